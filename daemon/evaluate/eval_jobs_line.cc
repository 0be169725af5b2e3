#include "daemon/evaluate/eval_jobs_line.h"

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "daemon/evaluate/driver_facts.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

using nlohmann::json;

// "v12" -> 12.
std::optional<size_t> Numbered(const json& value, char prefix) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  size_t number = 0;
  if (text.size() < 2 || text[0] != prefix || !absl::SimpleAtoi(text.substr(1), &number)) return std::nullopt;
  return number;
}

std::optional<EvalJobsLine::Part> PartOf(const json& value) {
  if (value == "derivation") return EvalJobsLine::Part::kDerivation;
  if (value == "environment") return EvalJobsLine::Part::kEnvironment;
  if (value == "facts") return EvalJobsLine::Part::kFacts;
  return std::nullopt;
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool ReadDerivation(const json& fields, EvalJobsLine& line) {
  line.derivation = TextOf(fields, "drvPath");
  if (!nix::CheckStorePath(line.derivation).ok() || !line.derivation.ends_with(".drv")) return false;
  const auto outputs = fields.find("outputs");
  if (outputs == fields.end() || !outputs->is_object() || outputs->empty()) return false;
  for (const auto& [name, path] : outputs->items()) {
    if (!path.is_string() || !nix::CheckStorePath(path.get<std::string>()).ok()) return false;
    line.outputs[name] = path.get<std::string>();
  }
  return true;
}

}  // namespace

std::optional<EvalJobsLine> ParseEvalJobsLine(std::string_view text) {
  const json fields = json::parse(text, nullptr, false);
  if (!fields.is_object()) return std::nullopt;
  const auto path = fields.find("attrPath");
  if (path == fields.end() || !path->is_array() || path->size() != 3) return std::nullopt;
  const auto import = Numbered((*path)[0], 'i'), name = Numbered((*path)[1], 'v');
  const auto part = PartOf((*path)[2]);
  if (!import || !name || !part) return std::nullopt;
  EvalJobsLine line{.import = *import, .name = *name, .part = *part, .error = TextOf(fields, "error")};
  if (!line.error.empty()) return line;
  if (!ReadDerivation(fields, line)) return std::nullopt;
  if (const auto meta = fields.find("meta");
      *part == EvalJobsLine::Part::kFacts && meta != fields.end() && meta->is_object()) {
    ReadFacts(*meta, &line.facts);
    line.facts.found_as = TextOf(*meta, "foundAs");
  }
  return line;
}

}  // namespace hydrant
