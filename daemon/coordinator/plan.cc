#include "daemon/coordinator/plan.h"

#include "daemon/coordinator/evaluation_audit.h"
#include "daemon/coordinator/known_facts.h"
#include "daemon/coordinator/variant_state.h"

namespace hydrant {
namespace {

bool HasFailed(const std::map<std::string, StepState>& states, const std::string& derivation) {
  auto state = states.find(derivation);
  return state != states.end() && (state->second == StepState::kFailed || state->second == StepState::kDependencyFailed);
}

// What a variant would be, once its outcome is known.
PlannedVariant PlanVariant(const VariantRecord& record, const Outcome* outcome, const OutcomeBatch& batch,
                           const std::map<std::string, StepState>& states) {
  PlannedVariant planned{.record = record, .state = "impossible"};
  if (outcome != nullptr) {
    planned.record.cause = outcome->cause;
    planned.record.message = outcome->message;
    planned.record.derivation = outcome->derivation;
    planned.record.outputs = outcome->outputs;
    planned.record.environment = outcome->environment;
    if (outcome->cause == Cause::kNone) planned.facts = std::make_shared<const VariantFacts>(outcome->facts);
  }
  planned.hydra = HydraOf(planned.record, planned.facts.get());
  const std::string& derivation = planned.record.derivation;
  auto held = batch.held.find(derivation);
  if (derivation.empty()) {
    if (IsEvaluatorDeath(planned.record.cause)) planned.state = "failed";
  } else if (held != batch.held.end()) {
    planned.state = "cached";
    planned.held_by = held->second;
  } else {
    planned.state = HasFailed(states, derivation) ? StepStateName(states.at(derivation)) : "pending";
  }
  return planned;
}

// What the rules would find, once all is known.
void JudgePlanned(const EvaluationEntry& entry, const OutcomeBatch& batch, std::vector<PlannedVariant>& variants) {
  EvaluationAudit audit(entry.declared, entry.derived);
  audit.Take(batch.derivations);
  std::vector<const VariantRecord*> records;
  for (const PlannedVariant& variant : variants) records.push_back(&variant.record);
  audit.CompareSlices(records);
  for (PlannedVariant& variant : variants) {
    if (variant.record.derivation.empty()) continue;
    audit.Settle(variant.record, variant.facts.get());
    if (!variant.record.derivation.empty()) continue;
    variant.state = "failed";
    variant.held_by.clear();
  }
}

}  // namespace

PlanView MakePlan(const std::string& revision, const EvaluationEntry& entry, const OutcomeBatch& batch,
                  const std::map<std::string, StepState>& states) {
  PlanView plan{.revision = revision};
  if (entry.derived != nullptr) plan.notes = entry.derived->notes;
  std::map<size_t, const Outcome*> by_variant;
  for (const Outcome& outcome : batch.outcomes) by_variant[outcome.variant] = &outcome;
  std::map<std::string, int> wanters;
  for (const VariantEntry& variant : entry.variants) {
    auto outcome = by_variant.find(static_cast<size_t>(variant.record.ordinal));
    plan.variants.push_back(
        PlanVariant(variant.record, outcome == by_variant.end() ? nullptr : outcome->second, batch, states));
    const std::string& derivation = plan.variants.back().record.derivation;
    if (!derivation.empty()) ++wanters[derivation];
  }
  JudgePlanned(entry, batch, plan.variants);
  for (const std::string& step : batch.steps) {
    if (const auto held = batch.held.find(step); held != batch.held.end()) {
      ++plan.present;
      ++plan.present_in[held->second];
    } else if (!HasFailed(states, step)) {
      ++plan.build;
    }
  }
  for (const auto& [derivation, count] : wanters) plan.shared += count > 1 ? 1 : 0;
  return plan;
}

}  // namespace hydrant
