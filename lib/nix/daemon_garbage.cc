// What DaemonClient has kept, collected and checked.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_call.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_encoding.h"

namespace hydrant::nix {

using enum DaemonOperation;

absl::Status DaemonClient::AddTempRoot(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kAddTempRoot, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->ReadDone();
}

absl::Status DaemonClient::AddTempRoots(const std::set<std::string>& paths) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(paths));
  const std::vector<std::string> asked(paths.begin(), paths.end());
  return impl_->Pipeline(
      asked.size(), [&](size_t i) { return impl_->BeginWithPath(kAddTempRoot, asked[i]); },
      [&](size_t) { return impl_->ReadDone(); });
}

absl::Status DaemonClient::AddIndirectRoot(std::string_view link) {
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kAddIndirectRoot));
  impl_->out().PutString(link);
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->ReadDone();
}

absl::Status DaemonClient::AddPermRoot(std::string_view path, std::string_view link) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kAddPermRoot, path));
  impl_->out().PutString(link);
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadString().status();
}

absl::Status DaemonClient::SyncWithGC() {
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kSyncWithGC));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(nullptr));
  return impl_->ReadDone();
}

absl::StatusOr<std::vector<GarbageRoot>> DaemonClient::FindRoots() {
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kFindRoots));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(nullptr));
  HYDRANT_ASSIGN_OR_RETURN(std::vector<GarbageRoot> roots, ReadGarbageRoots(impl_->in()));
  std::ranges::sort(roots);
  return roots;
}

absl::StatusOr<GarbageResult> DaemonClient::CollectGarbage(const GarbageRequest& request,
                                                           const LogSink& log) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(request.paths));
  const bool some = !request.paths.empty() && request.action != GarbageRequest::Action::kDeleteSpecific;
  if ((some || request.delete_referrers) && !protocol().has(kFeatureDeleteReferrers)) {
    return absl::UnimplementedError(
        absl::StrCat("CollectGarbage of some paths or with their referrers needs the protocol feature ",
                     AbslView(kFeatureDeleteReferrers), ", the Nix daemon lacks it"));
  }
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kCollectGarbage));
  PutGarbageRequest(impl_->out(), protocol(), request);
  HYDRANT_RETURN_IF_ERROR(impl_->Work(log));
  return ReadGarbageResult(impl_->in());
}

absl::Status DaemonClient::OptimiseStore(const LogSink& log) {
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kOptimiseStore));
  HYDRANT_RETURN_IF_ERROR(impl_->Work(log));
  return impl_->ReadDone();
}

absl::StatusOr<bool> DaemonClient::VerifyStore(bool check_contents, bool repair, const LogSink& log) {
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kVerifyStore));
  impl_->out().PutBool(check_contents);
  impl_->out().PutBool(repair);
  HYDRANT_RETURN_IF_ERROR(impl_->Work(log));
  HYDRANT_ASSIGN_OR_RETURN(const bool errors, impl_->in().ReadBool());
  return !errors;
}

}  // namespace hydrant::nix
