#include "daemon/evaluate/package_names.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/evaluate/evaluator_death.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

using nlohmann::json;

constexpr size_t kWords = 64 << 10;

bool IsTexts(const json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const json& each) { return each.is_string(); });
}

}  // namespace

bool PackageNamesTranscript::Take(std::string_view line) {
  const std::string_view own = line.starts_with(lead_) ? line.substr(lead_.size()) : "";
  if (own == "Z") {
    complete_ = true;
    return true;
  }
  if (own.starts_with("L ")) {
    if (status_.ok()) status_ = TakeNames(own.substr(2));
    return true;
  }
  if (line.starts_with("trace: ")) return false;
  words_.append(line.substr(0, kWords)).push_back('\n');
  if (words_.size() > 2 * kWords) words_.erase(0, words_.size() - kWords);
  return false;
}

absl::Status PackageNamesTranscript::TakeNames(std::string_view text) {
  json line = json::parse(text, nullptr, false);
  // A name whose bytes are no UTF-8 cannot be asked for, and hides no other.
  if (line.is_discarded()) line = json::parse(PrintableText(text), nullptr, false);
  if (!line.is_object() || !line.contains("set") || !IsTexts(line["set"])) {
    return absl::InternalError("list the packages of the tree: the evaluator told a line that is no list");
  }
  const std::string set = absl::StrJoin(line["set"].get<std::vector<std::string>>(), ".");
  if (line.contains("missing") && line["missing"].is_string()) {
    names_.missing.push_back(absl::StrCat(set, ": ", line["missing"].get<std::string>()));
    return absl::OkStatus();
  }
  if (!line.contains("names") || !IsTexts(line["names"])) {
    return absl::InternalError("list the packages of the tree: the evaluator told a line that is no list");
  }
  if (names_.packages.size() + line["names"].size() > kMostPackageNames) {
    return absl::ResourceExhaustedError(
        absl::StrCat("list the packages of the tree: it has more than ", kMostPackageNames, " names"));
  }
  for (const json& name : line["names"]) {
    names_.packages.push_back(set.empty() ? name.get<std::string>()
                                          : absl::StrCat(set, ".", name.get<std::string>()));
  }
  return absl::OkStatus();
}

absl::StatusOr<PackageNames> ListPackageNames(const LineProcess& process, const std::string& mark,
                                              const std::function<bool()>& stop, uint64_t memory) {
  PackageNamesTranscript transcript(mark);
  HYDRANT_ASSIGN_OR_RETURN(const LineProcessEnd end,
                           RunLineProcess(
                               process, [&](std::string_view line) { return transcript.Take(line); },
                               [&] { return !transcript.status().ok() || stop(); }));
  HYDRANT_RETURN_IF_ERROR(transcript.status());
  if (transcript.complete()) return std::move(transcript.names());
  const bool stopped = end.kind == LineProcessEnd::Kind::kStopped;
  if (stopped && stop()) return absl::CancelledError("evaluation cancelled");
  const Death death = stopped ? Death{{Cause::kEvaluatorOutOfMemory, "it was ended for its memory"}, false}
                              : ExplainDeath(end, transcript.words(), {memory, process.patience});
  return absl::Status(IsEvaluatorDeath(death.why.cause) ? absl::StatusCode::kUnavailable
                                                        : absl::StatusCode::kFailedPrecondition,
                      death.why.message);
}

}  // namespace hydrant
