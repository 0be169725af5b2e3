#include "daemon/coordinator/known_facts.h"

#include <memory>

#include "daemon/audit/refusal.h"
#include "daemon/evaluate/facts_text.h"

namespace hydrant {

void LearnFacts(const VariantFacts& facts, VariantEntry& variant) {
  variant.record.facts_json = FactsText(facts);
  RecallFacts(variant);
}

void RecallFacts(VariantEntry& variant) {
  const std::string& text = variant.record.facts_json;
  variant.facts = text.empty() ? nullptr : std::make_shared<const VariantFacts>(ParseFacts(text));
}

HydraVerdict HydraOf(const VariantRecord& record, const VariantFacts* facts) {
  // What is still unknown has no outcome to judge.
  if (record.cause == Cause::kNone && facts == nullptr) return {};
  // Hydra knows nothing of what a matrix refuses.
  const Cause cause = facts != nullptr && IsRefusal(record.cause) ? Cause::kNone : record.cause;
  return JudgeForHydra(facts == nullptr ? VariantFacts{} : *facts, cause);
}

}  // namespace hydrant
