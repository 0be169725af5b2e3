// Cancel and retry: what users no longer want, and what they want again.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "daemon/coordinator/known_facts.h"
#include "lib/base/status_macros.h"

namespace hydrant {

void Coordinator::PlanRevoked(Decision& decision, const AttemptSubject& subject) const {
  const Lease* lease = state_->leases.FindSubject(subject);
  if (lease == nullptr) return;
  AttemptResult result{.outcome = "cancelled", .cause = Cause::kCancelled, .message = "nobody wants it any more",
                       .ended_at = options_.clock.Now()};
  decision.Record(EndAttempt{.attempt = lease->attempt, .token = lease->token, .lease_end = "revoked", .result = result});
  decision.Then([attempt = lease->attempt](FarmState& state) {
    state.leases.End(attempt);
    state.renewed.erase(attempt);
  });
  decision.Tell([result](FarmObserver& observer) { observer.AttemptEnded(result); });
}

absl::Status Coordinator::CancelStep(StepId step) {
  Decision decision;
  {
    MutexLock lock(mu_);
    const std::string& derivation = state_->graph.spec(step).derivation;
    const StepState state = state_->graph.state(step);
    if (IsFinal(state)) {
      return absl::FailedPreconditionError(absl::StrCat(derivation, " is ", std::string(StepStateName(state)), " already"));
    }
    StepDetail detail{.cause = Cause::kCancelled, .message = "cancelled", .root = derivation};
    HYDRANT_RETURN_IF_ERROR(PlanInto(decision, step, StepEvent::kCancelled, std::move(detail)));
    PlanRevoked(decision, {.derivation = derivation});
  }
  return Carry(std::move(decision));
}

absl::StatusOr<int64_t> Coordinator::CancelUnwanted() {
  Decision decision;
  int64_t cancelled = 0;
  {
    MutexLock lock(mu_);
    std::vector<StepHappening> happenings;
    for (StepId step : state_->graph.Unwanted()) {
      const std::string& derivation = state_->graph.spec(step).derivation;
      happenings.push_back({step, StepEvent::kCancelled,
                            {.cause = Cause::kCancelled, .message = "nobody wants it any more", .root = derivation}});
      PlanRevoked(decision, {.derivation = derivation});
    }
    HYDRANT_RETURN_IF_ERROR(PlanAllInto(decision, happenings));
    cancelled = static_cast<int64_t>(happenings.size());
    for (const auto& [key, entry] : state_->checks) {
      if (IsFinal(entry.record.state) || IsWanted(*state_, entry)) continue;
      CheckRecord after = entry.record;
      after.message = "cancelled";
      if (!decision.MoveCheckBy(entry.record, CheckEvent::kInputsGone, std::move(after))) continue;
      PlanRevoked(decision, {.check = key});
      ++cancelled;
    }
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  return cancelled;
}

absl::Status Coordinator::CancelEvaluation(EvaluationId id) {
  Decision decision;
  {
    MutexLock lock(mu_);
    EvaluationEntry& evaluation = state_->evaluations.at(id);
    MoveEvaluation move{.message = "cancelled", .settled_at = options_.clock.Now()};
    if (!decision.MoveEvaluationBy(evaluation.record, EvaluationEvent::kCancelled, move)) {
      return absl::FailedPreconditionError(absl::StrCat("evaluation ", id.value, " is ",
          std::string(EvaluationStateName(evaluation.record.state))));
    }
    decision.Then([id](FarmState& state) { WantSteps(state, state.evaluations.at(id), false); });
  }
  return Carry(std::move(decision));
}

absl::Status Coordinator::CancelVariants(EvaluationId id, const std::set<int>& ordinals) {
  Decision decision;
  {
    MutexLock lock(mu_);
    const EvaluationEntry& evaluation = state_->evaluations.at(id);
    SaveVariants saved;
    std::vector<size_t> places;
    for (size_t i = 0; i < evaluation.variants.size(); ++i) {
      const VariantEntry& variant = evaluation.variants[i];
      if (!ordinals.contains(variant.record.ordinal)) continue;
      if (IsFinal(Describe(*state_, evaluation, variant, Waiting()).state)) continue;
      places.push_back(i);
      // A variant has a derivation or a cause. Its outputs still say what it would have been.
      VariantRecord record = variant.record;
      record.cause = Cause::kCancelled;
      record.message = "cancelled";
      record.derivation.clear();
      record.environment.clear();
      record.findings.clear();
      saved.variants.push_back(std::move(record));
    }
    if (places.empty()) return absl::FailedPreconditionError("nothing that was named is still to be done");
    decision.Record(saved);
    decision.Then([id, places, saved](FarmState& state) {
      EvaluationEntry& entry = state.evaluations.at(id);
      for (size_t i = 0; i < places.size(); ++i) {
        UnlinkVariant(state, entry, places[i]);
        VariantEntry& variant = entry.variants[places[i]];
        variant.record = saved.variants[i];
        RecallFacts(variant);
        variant.known = true;
      }
    });
  }
  return Carry(std::move(decision));
}

absl::StatusOr<CancelResult> Coordinator::Cancel(const Selector& selector) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  std::optional<StepId> step;
  EvaluationId id;
  std::set<int> ordinals;
  {
    MutexLock lock(mu_);
    if (selector.address.empty()) {
      HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation,
                               FindEvaluation(selector.matrix, selector.evaluation, selector.branch));
      id = evaluation->record.id;
    } else {
      HYDRANT_ASSIGN_OR_RETURN(Found found, Find(selector));
      step = found.step;
      if (found.evaluation != nullptr) id = found.evaluation->record.id;
      for (const VariantEntry* variant : found.variants) ordinals.insert(variant->record.ordinal);
    }
  }
  CancelResult result;
  if (step) {
    HYDRANT_RETURN_IF_ERROR(CancelStep(*step));
    result.cancelled = 1;
  } else if (ordinals.empty()) {
    HYDRANT_RETURN_IF_ERROR(CancelEvaluation(id));
  } else {
    HYDRANT_RETURN_IF_ERROR(CancelVariants(id, ordinals));
  }
  if (!step) {
    HYDRANT_ASSIGN_OR_RETURN(result.cancelled, CancelUnwanted());
    result.evaluation = id;
    result.variants = static_cast<int64_t>(ordinals.size());
  }
  Advance();
  return result;
}

namespace {

bool IsNewestOfItsBranch(const FarmState& state, const EvaluationRecord& record) {
  for (auto it = state.evaluations.upper_bound(record.id); it != state.evaluations.end(); ++it) {
    if (it->second.record.matrix == record.matrix && it->second.record.branch == record.branch) return false;
  }
  return true;
}

// The newest evaluations of their branches that a step, or what needs it, is for.
std::set<EvaluationId> NewestUsers(const FarmState& state, StepId root) {
  std::set<EvaluationId> evaluations;
  ForEachUser(state, root, [&](const EvaluationEntry& evaluation, const VariantEntry&, StepId) {
    if (IsNewestOfItsBranch(state, evaluation.record)) evaluations.insert(evaluation.record.id);
  });
  return evaluations;
}

}  // namespace

Coordinator::Faults Coordinator::FaultsOf(const Found& found, const std::string& cause) const {
  const FarmState& farm = *state_;
  const auto asked = [&cause](Cause of) { return cause.empty() || CauseName(of) == cause; };
  Faults faults;
  const auto add_step = [&](StepId step) {
    bool any = false;
    for (StepId root : farm.graph.AtFault(step)) {
      if (!asked(farm.graph.detail(root).cause)) continue;
      faults.steps.insert(root);
      any = true;
    }
    return any;
  };
  if (found.step && add_step(*found.step)) faults.evaluations = NewestUsers(farm, *found.step);
  if (found.evaluation != nullptr && found.evaluation->lacks_packages()) {
    faults.unknown = found.evaluation->record.state == EvaluationState::kFailed && asked(Cause::kUnknown);
  }
  for (const VariantEntry* variant : found.variants) {
    const EvaluationRecord& evaluation = found.evaluation->record;
    const bool unanswered = !variant->known && evaluation.state == EvaluationState::kFailed;
    const Cause of = unanswered ? Cause::kUnknown : variant->record.cause;
    if (IsEvaluatorDeath(of) && asked(of)) faults.unknown = true;
    bool at_fault = false;
    for (const std::optional<StepId>& step : {variant->step, variant->environment_step}) {
      if (step) at_fault = add_step(*step) || at_fault;
    }
    for (const std::string& key : variant->checks) {
      const CheckRecord& check = farm.checks.at(key).record;
      if (check.state != CheckState::kFailed || !asked(check.cause)) continue;
      faults.checks.insert(key);
      at_fault = true;
    }
    if (at_fault) faults.evaluations.insert(evaluation.id);
  }
  return faults;
}

absl::Status Coordinator::PlanRetry(Decision& decision, const Faults& faults) const {
  for (EvaluationId id : faults.evaluations) {
    const EvaluationRecord& record = state_->evaluations.at(id).record;
    // One that failed or was cancelled stays so: its steps go on without it.
    if (IsFinal(record.state) && !decision.MoveEvaluationBy(record, EvaluationEvent::kReopened, {})) continue;
    decision.Then([id](FarmState& state) {
      EvaluationEntry& evaluation = state.evaluations.at(id);
      evaluation.reopened = evaluation.reopened || evaluation.record.state == EvaluationState::kEvaluated;
      WantSteps(state, evaluation, true);
    });
  }
  // Inputs first: a step whose input stays failed cannot be tried again, and keeps its blame.
  std::vector<StepHappening> happenings;
  for (StepId step : state_->graph.InputsFirst({faults.steps.begin(), faults.steps.end()})) {
    if (faults.steps.contains(step)) happenings.push_back({step, RetryEventOf(state_->graph, step), {}});
  }
  HYDRANT_RETURN_IF_ERROR(PlanAllInto(decision, happenings));
  decision.Then([steps = faults.steps](FarmState& state) {
    for (StepId step : steps) state.avoid.erase(step);
  });
  for (const std::string& key : faults.checks) {
    const CheckRecord& before = state_->checks.at(key).record;
    CheckRecord after = before;
    after.cause = Cause::kNone;
    after.message.clear();
    after.failed_attempts = 0;
    decision.MoveCheckBy(before, CheckEvent::kRetried, std::move(after));
    decision.Then([key](FarmState& state) { state.checks.at(key).avoid.clear(); });
  }
  return absl::OkStatus();
}

absl::StatusOr<RetryResult> Coordinator::Retry(const Selector& selector, const std::string& cause) {
  std::optional<TriggerOrder> again;
  RetryResult result;
  {
    MutexLock door(door_);
    HYDRANT_RETURN_IF_ERROR(Fresh());
    Decision decision;
    {
      MutexLock lock(mu_);
      HYDRANT_ASSIGN_OR_RETURN(Found found, Find(selector));
      if (found.evaluation != nullptr && found.evaluation->record.state == EvaluationState::kCancelled) {
        const EvaluationRecord& record = found.evaluation->record;
        return absl::FailedPreconditionError(
            absl::StrCat("evaluation ", record.id.value, " was cancelled; hydrant trigger ", record.matrix));
      }
      const Faults faults = FaultsOf(found, cause);
      if (faults.unknown) {
        const EvaluationRecord& record = found.evaluation->record;
        again = {.matrix = record.matrix, .point = {.branch = record.branch, .revision = record.wanted_revision}};
        const Matrix& matrix = state_->declared.at(state_->matrices.at(record.matrix).digest)->matrix;
        HYDRANT_RETURN_IF_ERROR(BranchesOf(matrix, again->point).status());
      }
      result.retried = static_cast<int64_t>(faults.steps.size() + faults.checks.size());
      if (result.retried == 0 && !again) {
        return absl::FailedPreconditionError(cause.empty() ? "nothing among what was named has failed"
                                                           : absl::StrCat("nothing among what was named failed by ", cause));
      }
      HYDRANT_RETURN_IF_ERROR(PlanRetry(decision, faults));
    }
    HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
    Advance();
  }
  if (again) {
    HYDRANT_ASSIGN_OR_RETURN(const std::vector<EvaluationRecord> asked, Trigger(*again));
    result.evaluation = asked.front().id;
  }
  return result;
}

}  // namespace hydrant
