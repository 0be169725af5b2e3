// What DaemonClient has built or substituted.
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_call.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_encoding.h"

namespace hydrant::nix {

using enum DaemonOperation;

absl::StatusOr<BuildResult> DaemonClient::BuildDerivation(std::string_view derivation_path,
                                                          const BasicDerivation& derivation,
                                                          const LogSink& log, BuildMode mode) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(derivation.input_sources));
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kBuildDerivation, derivation_path));
  PutBasicDerivation(impl_->out(), derivation);
  impl_->out().PutNumber(static_cast<uint64_t>(mode));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(log));
  return ReadBuildResult(impl_->in(), protocol());
}

absl::StatusOr<std::vector<KeyedBuildResult>> DaemonClient::BuildPathsWithResults(
    const std::vector<DerivedPath>& paths, const LogSink& log, BuildMode mode) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithTargets(kBuildPathsWithResults, paths));
  impl_->out().PutNumber(static_cast<uint64_t>(mode));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(log));
  return ReadKeyedBuildResults(impl_->in(), protocol());
}

absl::Status DaemonClient::BuildPaths(const std::vector<DerivedPath>& paths, const LogSink& log,
                                      BuildMode mode) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithTargets(kBuildPaths, paths));
  impl_->out().PutNumber(static_cast<uint64_t>(mode));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(log));
  return impl_->ReadDone();
}

absl::Status DaemonClient::EnsurePath(std::string_view path, const LogSink& log) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kEnsurePath, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(log));
  return impl_->ReadDone();
}

}  // namespace hydrant::nix
