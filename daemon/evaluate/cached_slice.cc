// The file of one slice.
#include <nlohmann/json.hpp>

#include "daemon/evaluate/driver_facts.h"
#include "daemon/evaluate/evaluation_cache.h"
#include "daemon/evaluate/sealed_text.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

using nlohmann::json;

constexpr Seal kSeal = {.magic = "hydrant-evaluation", .version = 1};

json LineOf(const CachedName& name, const Outcome& outcome) {
  // By name, so that a new field is either written or does not compile.
  const auto& [variant, cause, message, derivation, outputs, environment, environment_output, facts] =
      outcome;
  json line = {{"package", name.package}, {"wants", name.environment}};
  if (cause != Cause::kNone) line["cause"] = CauseName(cause);
  if (!message.empty()) line["message"] = message;
  if (!derivation.empty()) line["derivation"] = derivation;
  if (!outputs.empty()) line["outputs"] = outputs;
  if (!environment.empty()) line["environment"] = environment;
  if (!environment_output.empty()) line["environment_output"] = environment_output;
  if (json meta = FactsMeta(facts); !meta.empty()) line["meta"] = std::move(meta);
  if (!facts.found_as.empty()) line["found_as"] = facts.found_as;
  return line;
}

absl::Status ParseLine(std::string_view text, CachedSlice& slice) {
  const json line = json::parse(text, nullptr, false);
  const absl::Status wrong = absl::DataLossError("a line is no outcome");
  if (!line.is_object()) return wrong;
  const auto text_of = [&](const char* key) {
    const auto found = line.find(key);
    return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto wants = line.find("wants");
  if (wants == line.end() || !wants->is_boolean()) return wrong;
  Outcome outcome{.message = text_of("message"),
                  .derivation = text_of("derivation"),
                  .environment = text_of("environment"),
                  .environment_output = text_of("environment_output")};
  if (const auto meta = line.find("meta"); meta != line.end()) ReadFacts(*meta, &outcome.facts);
  outcome.facts.found_as = text_of("found_as");
  if (const std::string word = text_of("cause"); !word.empty()) {
    const std::optional<Cause> cause = ParseCause(word);
    if (!cause) return wrong;
    outcome.cause = *cause;
  }
  if ((outcome.cause == Cause::kNone) == outcome.derivation.empty()) return wrong;
  if (const auto outputs = line.find("outputs"); outputs != line.end()) {
    if (!outputs->is_object()) return wrong;
    for (const auto& [name, path] : outputs->items()) {
      if (!path.is_string()) return wrong;
      outcome.outputs[name] = path.get<std::string>();
    }
  }
  slice[{.package = text_of("package"), .environment = wants->get<bool>()}] = std::move(outcome);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PrintCachedSlice(const CachedSlice& slice) {
  std::string text;
  for (const auto& [name, outcome] : slice) {
    text += LineOf(name, outcome).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  return SealText(kSeal, text);
}

absl::StatusOr<CachedSlice> ParseCachedSlice(std::string_view bytes) {
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, UnsealText(kSeal, bytes));
  CachedSlice slice;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    HYDRANT_RETURN_IF_ERROR(ParseLine(rest.substr(0, end), slice));
    rest.remove_prefix(end + 1);
  }
  return slice;
}

}  // namespace hydrant
