// What DaemonClient carries into a store and out of it.
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_call.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_encoding.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_parser.h"
#include "lib/nix/path_archive_stream.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {

using enum DaemonOperation;
using OnFailure = DaemonWire::OnFailure;

namespace {

absl::Status CheckPathInfo(const PathInfo& info) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePath(info.path));
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(info.references));
  return info.deriver.empty() ? absl::OkStatus() : CheckStorePath(info.deriver);
}

std::string_view MethodName(ContentMethod method) {
  switch (method) {
    case ContentMethod::kText:
      return "text:sha256";
    case ContentMethod::kFlat:
      return "fixed:sha256";
    case ContentMethod::kRecursive:
      return "fixed:r:sha256";
    case ContentMethod::kGit:
      break;
  }
  return "";
}

}  // namespace

// The archive has no length: where it ends is known by reading it.
absl::Status DaemonClient::NarFromPath(std::string_view path, Sink& sink) {
  // For a path that is absent the daemon would end the connection without a word.
  HYDRANT_ASSIGN_OR_RETURN(const bool valid, IsValidPath(path));
  if (!valid) return NotValidError(path);
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kNarFromPath, path));
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  WireReader& in = impl_->in();
  NarVisitor nothing;
  NarParser parser(nothing);
  while (!parser.done()) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string_view bytes, in.Peek());
    const absl::StatusOr<size_t> consumed = parser.Consume(bytes);
    if (!consumed.ok()) return in.Break(absl::DataLossError(consumed.status().message()));
    if (absl::Status full = sink.Write(bytes.substr(0, *consumed)); !full.ok()) return in.Break(full);
    in.Skip(*consumed);
  }
  return absl::OkStatus();
}

absl::Status DaemonClient::VerifyPath(std::string_view path) {
  HYDRANT_ASSIGN_OR_RETURN(const PathInfo info, QueryPathInfo(path));
  NarVerifier verifier;
  HYDRANT_RETURN_IF_ERROR(NarFromPath(path, verifier));
  HYDRANT_ASSIGN_OR_RETURN(const NarFacts facts, verifier.Finish());
  if (facts.hash != info.nar_hash) {
    return absl::DataLossError(absl::StrCat(info.path, " was modified: its archive's hash is ",
                                            facts.hash.ToNixString(), ", expected ",
                                            info.nar_hash.ToNixString()));
  }
  // 0: not known, in stores of old.
  if (info.nar_size != 0 && facts.size != info.nar_size) {
    return absl::DataLossError(
        absl::StrCat(info.path, " has an archive of ", facts.size, " bytes, expected ", info.nar_size));
  }
  return absl::OkStatus();
}

absl::Status DaemonClient::AddToStoreNar(const PathInfo& info, Source& nar, bool check_signatures,
                                         bool repair) {
  HYDRANT_RETURN_IF_ERROR(CheckPathInfo(info));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kAddToStoreNar));
  PathInfo sent = info;
  sent.registered = absl::InfinitePast();  // now
  PutPathInfo(impl_->out(), sent);
  impl_->out().PutBool(repair);
  impl_->out().PutBool(!check_signatures);
  return protocol().minor >= 23 ? impl_->Upload(nar, OnFailure::kEnd) : impl_->UploadOnDemand(nar);
}

absl::Status DaemonClient::AddMultipleToStore(const std::vector<PathArchive>& paths, bool check_signatures,
                                              bool repair) {
  for (const PathArchive& path : paths) HYDRANT_RETURN_IF_ERROR(CheckPathInfo(path.info));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kAddMultipleToStore));
  impl_->out().PutBool(repair);
  impl_->out().PutBool(!check_signatures);
  PathArchiveStream stream(paths);
  return impl_->Upload(stream, OnFailure::kEnd);
}

absl::StatusOr<PathInfo> DaemonClient::AddToStore(std::string_view name, ContentMethod method,
                                                  Source& content, const std::set<std::string>& references,
                                                  bool repair) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(references));
  if (method == ContentMethod::kGit)
    return absl::InvalidArgumentError("add to the store: expected a text, flat or recursive method, got git");
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kAddToStore));
  impl_->out().PutString(name);
  impl_->out().PutString(MethodName(method));
  impl_->out().PutStrings(references);
  impl_->out().PutBool(repair);
  HYDRANT_RETURN_IF_ERROR(impl_->Upload(content, OnFailure::kBreak));
  return ReadPathInfo(impl_->in());
}

absl::StatusOr<std::string> DaemonClient::AddTextToStore(std::string_view name, std::string_view text,
                                                         const std::set<std::string>& references) {
  if (protocol().minor >= 25) {
    StringSource source(text);
    HYDRANT_ASSIGN_OR_RETURN(PathInfo info, AddToStore(name, ContentMethod::kText, source, references));
    return std::move(info.path);
  }
  HYDRANT_RETURN_IF_ERROR(CheckStorePaths(references));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kAddTextToStore));
  impl_->out().PutString(name);
  impl_->out().PutString(text);
  impl_->out().PutStrings(references);
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->in().ReadString();
}

absl::Status DaemonClient::AddSignatures(std::string_view path, const std::vector<std::string>& signatures) {
  HYDRANT_RETURN_IF_ERROR(impl_->BeginWithPath(kAddSignatures, path));
  impl_->out().PutStrings(signatures);
  HYDRANT_RETURN_IF_ERROR(impl_->Ask());
  return impl_->ReadDone();
}

absl::Status DaemonClient::AddBuildLog(std::string_view derivation, Source& log) {
  HYDRANT_ASSIGN_OR_RETURN(const StorePath path, StorePath::Parse(derivation));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kAddBuildLog));
  impl_->out().PutString(path.base_name());
  HYDRANT_RETURN_IF_ERROR(impl_->Upload(log, OnFailure::kBreak));
  return impl_->ReadDone();
}

absl::Status DaemonClient::RegisterRealisation(const DaemonRealisation& realisation) {
  HYDRANT_RETURN_IF_ERROR(impl_->CheckOutputId(realisation.id));
  HYDRANT_RETURN_IF_ERROR(CheckStorePath(realisation.out_path));
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kRegisterDrvOutput));
  PutRealisation(impl_->out(), protocol(), realisation);
  return impl_->Ask();
}

}  // namespace hydrant::nix
