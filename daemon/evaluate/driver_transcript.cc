#include "daemon/evaluate/driver_transcript.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/evaluate/driver_facts.h"
#include "daemon/evaluate/evaluator_death.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

using nlohmann::json;

constexpr std::string_view kTrace = "trace: ";
constexpr size_t kWords = 64 << 10;
constexpr size_t kQuestion = 100;
constexpr size_t kUnreadable = 200;

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool IsDerivationPath(const std::string& path) {
  return nix::CheckStorePath(path).ok() && path.ends_with(".drv");
}

// Null when it is no JSON. A name whose bytes are no UTF-8 is a name all the same.
json ParseFields(std::string_view text) {
  json fields = json::parse(text, nullptr, false);
  return fields.is_discarded() ? json::parse(PrintableText(text), nullptr, false) : fields;
}

// Empty when any is no store path.
std::map<std::string, std::string> OutputsOf(const json& object) {
  std::map<std::string, std::string> outputs;
  const auto found = object.find("outputs");
  if (found == object.end() || !found->is_object()) return {};
  for (const auto& [name, path] : found->items()) {
    if (!path.is_string() || !nix::CheckStorePath(path.get<std::string>()).ok()) return {};
    outputs[name] = path.get<std::string>();
  }
  return outputs;
}

// What no Nix store makes of a package: an attribute set that is dressed up as a derivation.
NameReport Garbled(const json& fields, const std::string& derivation) {
  const bool path = IsDerivationPath(derivation);
  const json outputs = path ? fields.value("outputs", json()) : json(derivation);
  return {.kind = NameReport::Kind::kGarbled,
          .message = absl::StrCat(
              "its ", path ? "outputs " : "drvPath ",
              PrintableText(outputs.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 300)),
              path ? " are no outputs that a Nix store gives" : " is no derivation in a Nix store")};
}

NameReport DerivationReport(const json& fields) {
  NameReport report{.kind = NameReport::Kind::kDerivation,
                    .derivation = TextOf(fields, "drvPath"),
                    .outputs = OutputsOf(fields)};
  report.facts.found_as = TextOf(fields, "foundAs");
  if (!report.facts.found_as.empty()) report.message = "found as " + report.facts.found_as;
  return IsDerivationPath(report.derivation) && !report.outputs.empty() ? report
                                                                        : Garbled(fields, report.derivation);
}

NameReport MissingReport(const json& fields) {
  NameReport report{.kind = NameReport::Kind::kMissing, .message = PrintableText(TextOf(fields, "message"))};
  std::vector<std::string> similar;
  if (const auto found = fields.find("available"); found != fields.end() && found->is_array()) {
    for (const json& name : *found) {
      if (name.is_string()) similar.push_back(name.get<std::string>());
    }
  }
  if (!similar.empty()) absl::StrAppend(&report.message, "; there are ", PrintableText(absl::StrJoin(similar, ", ")));
  return report;
}

}  // namespace

bool DriverTranscript::Take(std::string_view line) {
  if (line.starts_with(lead_)) {
    line.remove_prefix(lead_.size());
    const bool whole = !line.empty() && (line.size() == 1 || line[1] == ' ');
    if (!whole || !TakeMark(line[0], line.size() > 2 ? line.substr(2) : "")) return false;
    words_.clear();
    return true;
  }
  if (line.starts_with(kTrace)) return false;
  words_.append(line.substr(0, kWords)).push_back('\n');
  if (words_.size() > 2 * kWords) words_.erase(0, words_.size() - kWords);
  return false;
}

bool DriverTranscript::TakeMark(char mark, std::string_view rest) {
  switch (mark) {
    case 'S':
      return state_ == State::kBetween && reports_.empty() && !nothing_begins_ && Slice(rest);
    case 'P':
      if (state_ != State::kBetween || !reports_.empty() || named_.has_value()) return false;
      state_ = State::kSlice;
      return true;
    case 'Q':
      return state_ == State::kSlice && Named(rest);
    case 'B':
      return Begin(rest);
    case 'R':
    case 'M':
    case 'N':
    case 'T':
      return state_ == State::kName && Report(mark, rest);
    case 'E':
    case 'F':
    case 'A':
      return state_ == State::kDetails && Detail(mark, rest);
    case 'H':
    case 'U':
      return state_ == State::kDetails && Probe(mark, rest);
    case 'X':
      if (state_ != State::kBetween || !reports_.empty()) return false;
      nothing_begins_ = true;
      return true;
    case 'Z':
      if (state_ != State::kBetween || (!nothing_begins_ && reports_.size() != ids_.size())) return false;
      state_ = State::kEnd;
      return true;
    default:
      return false;
  }
}

bool DriverTranscript::Slice(std::string_view rest) {
  const json fields = ParseFields(rest);
  if (!recipe_.empty() || !fields.is_object() || TextOf(fields, "recipe").empty()) return false;
  recipe_ = TextOf(fields, "recipe");
  recipe_why_ = TextOf(fields, "why");
  return true;
}

bool DriverTranscript::Named(std::string_view rest) {
  const json fields = ParseFields(rest);
  if (!fields.is_object()) return false;
  named_ = ReadNamed(fields);
  state_ = State::kBetween;
  return true;
}

// Of the refusals that a question meets the first is the one that is told.
bool DriverTranscript::Probe(char mark, std::string_view rest) {
  if (mark == 'H') {
    question_ = std::string(rest.substr(0, kQuestion));
    return true;
  }
  const json fields = ParseFields(rest);
  if (!fields.is_object() || question_.empty()) return false;
  const std::string message = PrintableText(TextOf(fields, "message"));
  // Only the first is news: a tree may go on for ever.
  return refusals_.try_emplace(question_, message.substr(0, message.find('\n'))).second;
}

bool DriverTranscript::Begin(std::string_view id) {
  if (state_ != State::kBetween || reports_.size() == ids_.size() || id != ids_[reports_.size()])
    return false;
  state_ = State::kName;
  return true;
}

bool DriverTranscript::Report(char mark, std::string_view rest) {
  const std::string& id = ids_[reports_.size()];
  if (mark == 'T') {
    if (rest != id) return false;
    reports_.push_back({.kind = NameReport::Kind::kCaught});
    state_ = State::kBetween;
    return true;
  }
  const json fields = ParseFields(rest);
  if (!fields.is_object()) {
    reports_.push_back({.kind = NameReport::Kind::kGarbled,
                        .message = absl::StrCat("what it tells of itself cannot be read: ",
                                                PrintableText(rest.substr(0, kUnreadable)))});
    state_ = State::kBetween;
    return true;
  }
  if (TextOf(fields, "id") != id) return false;
  if (mark == 'R') {
    reports_.push_back(DerivationReport(fields));
  } else if (mark == 'M') {
    reports_.push_back(MissingReport(fields));
  } else {
    reports_.push_back({.kind = NameReport::Kind::kNotADerivation, .message = TextOf(fields, "message")});
  }
  state_ = mark == 'R' ? State::kDetails : State::kBetween;
  return true;
}

bool DriverTranscript::Detail(char mark, std::string_view rest) {
  const json fields = ParseFields(rest);
  if (fields.is_object() && TextOf(fields, "id") != ids_[reports_.size() - 1]) return false;
  NameReport& report = reports_.back();
  if (mark == 'A') {
    if (const auto meta = fields.find("meta"); meta != fields.end()) ReadFacts(*meta, &report.facts);
    for (std::string& question : report.facts.hygiene) {
      const auto refusal = refusals_.find(question);
      absl::StrAppend(
          &question, ": ",
          refusal == refusals_.end() ? "cannot be told where unfree is refused" : refusal->second);
    }
    refusals_.clear();
    question_.clear();
    state_ = State::kBetween;
  } else if (mark == 'F') {
    if (!report.message.empty()) report.message += "; ";
    report.message += "no Python environment: " + TextOf(fields, "message");
  } else {
    const std::map<std::string, std::string> outputs = OutputsOf(fields);
    const auto out = outputs.find("out");
    if (IsDerivationPath(TextOf(fields, "drvPath")) && out != outputs.end()) {
      report.environment = TextOf(fields, "drvPath");
      report.environment_output = out->second;
    } else {
      if (!report.message.empty()) report.message += "; ";
      report.message += "no Python environment: it is no derivation in a Nix store";
    }
  }
  return true;
}

}  // namespace hydrant
