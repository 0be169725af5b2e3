// Package lists that only an evaluation can tell: derived once for a text and a revision, recorded, expanded.
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "lib/base/status_macros.h"

namespace hydrant {

absl::Status Coordinator::PlanVariants(Decision& decision, const EvaluationEntry& evaluation,
                                       const std::string& revision, std::shared_ptr<const Derived> derived) const {
  auto filled = std::make_shared<EvaluationEntry>(
      NewEvaluationEntry(evaluation.record, evaluation.declared, std::move(derived)));
  if (filled->variants.empty() && !filled->lacks_packages()) {
    return absl::InvalidArgumentError(absl::StrCat("'", evaluation.record.only, "' matches no variant of ",
                                                   evaluation.record.matrix, " at this revision"));
  }
  if (filled->derived != nullptr) {
    const Derived& list = *filled->derived;
    decision.Record(SaveDerivedList{{.evaluation = evaluation.record.id, .revision = revision, .packages = list.packages,
                                     .notes = list.notes, .complete = list.complete}});
  }
  SaveVariants known;
  for (const VariantEntry& variant : filled->variants) {
    if (variant.known) known.variants.push_back(variant.record);
  }
  if (!known.variants.empty()) decision.Record(std::move(known));
  decision.Then([filled](FarmState& state) {
    EvaluationEntry& entry = state.evaluations.at(filled->record.id);
    entry.derived = filled->derived;
    entry.variants = filled->variants;
    entry.unmatched = filled->unmatched;
    entry.changed = true;
  });
  return absl::OkStatus();
}

absl::Status Coordinator::PlanPackagesAt(Decision& decision, const EvaluationEntry& evaluation,
                                         const std::string& revision) const {
  if (!evaluation.declared->matrix.derived) return absl::OkStatus();
  if (evaluation.derived != nullptr && evaluation.record.revision == revision) return absl::OkStatus();
  std::shared_ptr<const Derived> derived = FindDerived(*state_, evaluation.record.digest, revision);
  if (derived == evaluation.derived) return absl::OkStatus();
  return PlanVariants(decision, evaluation, revision, std::move(derived));
}

absl::StatusOr<bool> Coordinator::LacksPackages(EvaluationId id) const {
  MutexLock lock(mu_);
  HYDRANT_ASSIGN_OR_RETURN(const EvaluationEntry* evaluation, FindEvaluation("", id));
  return evaluation->lacks_packages();
}

absl::Status Coordinator::SetPackages(EvaluationId id, const DerivedList& list) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    const EvaluationRecord& record = evaluation->record;
    if (record.state != EvaluationState::kEvaluating) {
      return absl::CancelledError(absl::StrCat("evaluation ", id.value, " is ",
                                               std::string(EvaluationStateName(record.state))));
    }
    HYDRANT_ASSIGN_OR_RETURN(std::shared_ptr<const Derived> derived, Expand(*evaluation->declared, list));
    HYDRANT_RETURN_IF_ERROR(PlanVariants(decision, *evaluation, record.revision, std::move(derived)));
  }
  return Carry(std::move(decision));
}

absl::StatusOr<std::shared_ptr<const Expansion>> Coordinator::ExpansionOf(EvaluationId id) const {
  MutexLock lock(mu_);
  HYDRANT_ASSIGN_OR_RETURN(const EvaluationEntry* evaluation, FindEvaluation("", id));
  const Expansion* const expansion = &evaluation->expansion();
  if (evaluation->derived != nullptr) return std::shared_ptr<const Expansion>(evaluation->derived, expansion);
  return std::shared_ptr<const Expansion>(evaluation->declared, expansion);
}

absl::StatusOr<std::shared_ptr<const Derived>> Coordinator::Expand(const Declared& declared, DerivedList list) const {
  return ExpandDerived(declared, options_.farm.system,
                       {.packages = std::move(list.packages), .notes = std::move(list.notes),
                        .complete = list.unknown.empty()});
}

std::shared_ptr<const Derived> Coordinator::DerivedOf(const std::string& digest, const std::string& revision) const {
  MutexLock lock(mu_);
  return FindDerived(*state_, digest, revision);
}

}  // namespace hydrant
