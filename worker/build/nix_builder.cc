#include "worker/build/nix_builder.h"

#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/failure/classify.h"
#include "lib/nix/store_path.h"
#include "worker/build/build_watch.h"

namespace hydrant::worker {
namespace {

constexpr size_t kTail = 64 << 10;  // of the log, for classifying

nix::BasicDerivation Basic(const BuildRequest& request) {
  const nix::Derivation& full = request.derivation;
  return {.outputs = full.outputs,
          .input_sources = {request.input_paths.begin(), request.input_paths.end()},
          .system = full.system,
          .builder = full.builder,
          .arguments = full.arguments,
          .environment = full.environment};
}

class Tail {
 public:
  void Add(std::string_view text) {
    text_.append(text);
    if (text_.size() > 2 * kTail) text_.erase(0, text_.size() - kTail);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// What a success must still show: every output valid, and not larger than allowed.
Classified CheckOutputs(nix::DaemonClient& client, const BuildRequest& request) {
  uint64_t size = 0;
  for (const auto& [name, output] : request.derivation.outputs) {
    const auto info = client.QueryPathInfo(output.path);
    if (!info.ok()) {
      return {Cause::kOutputMissing,
              absl::StrCat("output '", name, "' at ", output.path,
                           " is not valid after the build: ", info.status().message())};
    }
    size += info->nar_size;
  }
  const int64_t most = request.limits.max_output_bytes;
  if (most > 0 && size > static_cast<uint64_t>(most)) {
    return {Cause::kOutputLimit, absl::StrCat("the outputs are ", size, " bytes, the limit is ", most)};
  }
  return {Cause::kNone, ""};
}

void Conclude(const absl::StatusOr<nix::BuildResult>& result, const BuildWatch::Report& watched,
              const std::string& tail, BuildOutcome& outcome) {
  if (watched.cause != Cause::kNone) {
    outcome.cause = watched.cause;
    outcome.message = watched.message;
    return;
  }
  const std::string error = result.ok() ? result->error : std::string(result.status().message());
  const Classified found = ClassifyAttempt(outcome.nix_status, error, tail);
  outcome.cause = found.cause == Cause::kUnknown || found.cause == Cause::kNone
                      ? (result.ok() ? Cause::kBuilderFailed : Cause::kTransient)
                      : found.cause;
  outcome.message = found.message.empty() ? StripAnsi(error) : found.message;
}

}  // namespace

absl::StatusOr<bool> NixBuilder::IsBuilt(StoreSession& session, const nix::Derivation& derivation) {
  std::set<std::string> outputs;
  for (const auto& [name, output] : derivation.outputs) {
    if (output.path.empty()) {
      return absl::UnimplementedError(absl::StrCat("output '", name,
                                                   "' has no path of its own: content-addressed "
                                                   "derivations cannot be built"));
    }
    HYDRANT_RETURN_IF_ERROR(session.client().AddTempRoot(output.path));
    outputs.insert(output.path);
  }
  HYDRANT_ASSIGN_OR_RETURN(const std::set<std::string> valid, session.client().QueryValidPaths(outputs));
  return valid.size() == outputs.size();
}

absl::StatusOr<bool> NixBuilder::HasDerivation(StoreSession& session, const std::string& derivation_path) {
  HYDRANT_RETURN_IF_ERROR(session.client().AddTempRoot(derivation_path));
  return session.client().IsValidPath(derivation_path);
}

absl::Status NixBuilder::AddDerivations(StoreSession& session, const std::vector<DerivationFile>& files) {
  for (const DerivationFile& file : files) {
    HYDRANT_ASSIGN_OR_RETURN(const nix::StorePath path, nix::StorePath::Parse(file.path));
    HYDRANT_ASSIGN_OR_RETURN(const std::string added,
                             session.client().AddTextToStore(
                                 path.name(), file.aterm, {file.references.begin(), file.references.end()}));
    if (added != file.path) {
      return absl::InvalidArgumentError(absl::StrCat("add ", file.path, ": its bytes belong to ", added));
    }
  }
  return absl::OkStatus();
}

BuildOutcome NixBuilder::Build(StoreSession& session, const BuildRequest& request, const LogCallback& log,
                               Cancellation& cancellation) {
  BuildWatch watch(session, request.limits);
  Cancellation::Hook stop(cancellation,
                          [&watch] { watch.Abort(Cause::kCancelled, "the build was cancelled"); });
  Tail tail;
  const auto print = [&](const std::string& line) {
    tail.Add(line);
    if (watch.Heard(line.size())) log(line);
  };
  const auto result = session.client().BuildDerivation(request.derivation_path, Basic(request),
                                                       [&](const nix::LogEvent& event) {
                                                         if (event.kind == nix::LogEvent::Kind::kBuildLogLine)
                                                           print(event.text + "\n");
                                                       });

  BuildOutcome outcome;
  outcome.nix_status = result.ok() ? static_cast<int>(result->status) : -1;
  const bool built = result.ok() && result->ok();
  // What the builder did not print itself stands at the end of its log.
  if (result.ok() && !built && tail.text().empty()) print(StripAnsi(result->error) + "\n");
  const BuildWatch::Report watched = watch.Finish();
  outcome.cpu = watched.cpu;
  outcome.max_memory_bytes = watched.max_memory_bytes;
  outcome.log_bytes = watched.log_bytes;
  if (built && watched.cause == Cause::kNone) {
    const Classified checked = CheckOutputs(session.client(), request);
    outcome.cause = checked.cause;
    outcome.message = checked.message;
  } else {
    Conclude(result, watched, tail.text(), outcome);
  }
  return outcome;
}

}  // namespace hydrant::worker
