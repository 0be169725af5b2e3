#include "lib/nix/daemon_call.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_encoding.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kMaxUpload = 1 << 20;
// Requests that are under way at once. Their replies are read while later requests are written, so that
// neither end waits.
constexpr size_t kMaxPipelined = 256;

}  // namespace

absl::Status NotValidError(std::string_view path) {
  return absl::NotFoundError(absl::StrCat("path ", AbslView(path), " is not in the Nix store"));
}

absl::Status CheckStorePaths(const std::set<std::string>& paths) {
  for (const std::string& path : paths) HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
  return absl::OkStatus();
}

absl::Status DaemonClient::Impl::Begin(DaemonOperation operation) {
  HYDRANT_RETURN_IF_ERROR(wire_.broken());
  HYDRANT_RETURN_IF_ERROR(CheckOperation(operation, protocol()));
  if (wire_.has_unread()) return wire_.Garbled("more than its reply");
  out().PutNumber(static_cast<uint64_t>(operation));
  return absl::OkStatus();
}

absl::Status DaemonClient::Impl::BeginWithPath(DaemonOperation operation, std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
  HYDRANT_RETURN_IF_ERROR(Begin(operation));
  out().PutString(path);
  return absl::OkStatus();
}

absl::Status DaemonClient::Impl::BeginWithTargets(DaemonOperation operation,
                                                  const std::vector<DerivedPath>& paths) {
  for (const DerivedPath& path : paths) HYDRANT_RETURN_IF_ERROR(path.Check());
  WireWriter targets;
  HYDRANT_RETURN_IF_ERROR(PutDerivedPaths(targets, protocol(), paths));
  HYDRANT_RETURN_IF_ERROR(Begin(operation));
  out().PutBytes(targets.bytes());
  return absl::OkStatus();
}

absl::Status DaemonClient::Impl::CheckOutputId(const DerivationOutputId& id) const {
  const bool by_path = protocol().has(kFeatureRealisationWithPath);
  const bool fits = by_path ? CheckStorePath(id.derivation).ok() : Sha256Digest::Parse(id.derivation).ok();
  if (fits && !id.output.empty() && id.output.find('!') == std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("\"", id.derivation, "!", id.output,
                                                 "\" names no output of a derivation, expected ",
                                                 by_path ? "its path" : "sha256:HASH", " and a name"));
}

absl::Status DaemonClient::Impl::AwaitAnswer(const LogSink& log, const LogUpload& upload) {
  wire_.set_deadline(reply_timeout_);
  absl::Status answered = ReadDaemonLog(wire_, protocol().minor, log, upload);
  wire_.set_deadline(absl::InfiniteDuration());
  return answered;
}

absl::Status DaemonClient::Impl::Ask(const LogSink& log) {
  HYDRANT_RETURN_IF_ERROR(wire_.Flush());
  return AwaitAnswer(log);
}

absl::Status DaemonClient::Impl::Work(const LogSink& log) {
  HYDRANT_RETURN_IF_ERROR(wire_.Flush());
  wire_.set_timeout(work_timeout_);
  absl::Status worked = ReadDaemonLog(wire_, protocol().minor, log);
  wire_.set_timeout(reply_timeout_);
  return worked;
}

absl::Status DaemonClient::Impl::Upload(Source& source, DaemonWire::OnFailure on_failure) {
  const absl::Status sent = wire_.SendFrames(source, on_failure);
  // Also after an error: a daemon that ends the connection says why before, and one that got too little
  // answers so.
  const absl::Status answered = AwaitAnswer(nullptr);
  const bool explains = !answered.ok() && !wire_.broken().ok() && answered != wire_.broken();
  return sent.ok() || explains ? answered : sent;
}

absl::Status DaemonClient::Impl::UploadOnDemand(Source& source) {
  HYDRANT_RETURN_IF_ERROR(wire_.Flush());
  return ReadDaemonLog(wire_, protocol().minor, nullptr, [&](uint64_t asked) -> absl::Status {
    std::string block(std::min<uint64_t>(std::max<uint64_t>(asked, 1), kMaxUpload), '\0');
    const absl::StatusOr<size_t> n = source.Read(block);
    if (!n.ok()) return wire_.Break(n.status());
    wire_.PutString(std::string_view(block).substr(0, *n));
    return wire_.Flush();
  });
}

absl::Status DaemonClient::Impl::Pipeline(size_t count, const std::function<absl::Status(size_t)>& put,
                                          const std::function<absl::Status(size_t)>& read) {
  absl::Status first_error;
  for (size_t begin = 0; begin < count; begin += kMaxPipelined) {
    const size_t end = std::min(count, begin + kMaxPipelined);
    for (size_t i = begin; i < end; ++i) HYDRANT_RETURN_IF_ERROR(put(i));
    HYDRANT_RETURN_IF_ERROR(wire_.Flush());
    for (size_t i = begin; i < end; ++i) {
      absl::Status answered = AwaitAnswer(nullptr);
      if (answered.ok()) answered = read(i);
      HYDRANT_RETURN_IF_ERROR(wire_.broken());
      first_error.Update(answered);
    }
  }
  return first_error;
}

}  // namespace hydrant::nix
