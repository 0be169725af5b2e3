#include "daemon/evaluate/facts_text.h"

#include <nlohmann/json.hpp>

#include "daemon/evaluate/driver_facts.h"

namespace hydrant {

using nlohmann::json;

std::string FactsText(const VariantFacts& facts) {
  json text = FactsMeta(facts);
  if (!facts.found_as.empty()) text["foundAs"] = facts.found_as;
  // A fact may have been cut in the midst of a letter; JSON has no NUL that the record could not keep.
  return text.empty() ? "" : text.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

VariantFacts ParseFacts(std::string_view text) {
  VariantFacts facts;
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return facts;
  ReadFacts(parsed, &facts);
  if (const auto found = parsed.find("foundAs"); found != parsed.end() && found->is_string()) {
    facts.found_as = found->get<std::string>();
  }
  return facts;
}

}  // namespace hydrant
