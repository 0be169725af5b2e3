// Cancel and retry: what users no longer want, and what they want again.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

// A .drv path or its hash part.
std::optional<StepId> StepOf(const FarmState& state, const std::string& address) {
  if (auto step = state.graph.Find(address)) return step;
  if (!nix::IsHashPart(address)) return std::nullopt;
  const std::string prefix = absl::StrCat(AbslView(nix::kStoreDir), "/", address, "-");
  for (StepId step = 0; step < state.graph.size(); ++step) {
    if (absl::StartsWith(state.graph.spec(step).derivation, prefix)) return step;
  }
  return std::nullopt;
}

bool IsGlob(const std::string& address) {
  return address.find_first_of("*?[") != std::string::npos || absl::StartsWith(address, "@");
}

// "[MATRIX/]ID" in two.
std::pair<std::string, std::string> SplitAddress(const FarmState& state, const std::string& address) {
  const size_t slash = address.find('/');
  if (slash == std::string::npos || slash == 0) return {"", address};
  const std::string matrix = address.substr(0, slash);
  if (!state.matrices.contains(matrix)) return {"", address};
  return {matrix, address.substr(slash + 1)};
}

}  // namespace

absl::StatusOr<Found> Coordinator::Find(const std::string& address, const std::string& matrix, EvaluationId id) const {
  Found found;
  if (auto step = StepOf(*state_, address)) {
    found.step = step;
    return found;
  }
  if (absl::StartsWith(address, "/nix/store/")) {
    return absl::NotFoundError(absl::StrCat("nobody ever wanted ", address));
  }
  auto [named, rest] = SplitAddress(*state_, address);
  if (named.empty()) named = matrix;
  std::vector<EvaluationEntry*> evaluations;
  if (id || !named.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * one, FindEvaluation(named, id));
    evaluations.push_back(one);
  } else {
    for (const auto& [name, unused] : state_->matrices) {
      if (EvaluationEntry* newest = NewestEvaluation(*state_, name)) evaluations.push_back(newest);
    }
  }
  std::vector<std::string> candidates, ids;
  for (EvaluationEntry* evaluation : evaluations) {
    std::vector<VariantEntry*> here;
    for (VariantEntry& variant : evaluation->variants) {
      const Variant& declared = evaluation->declared->expansion.variants[variant.record.ordinal];
      ids.push_back(variant.record.id);
      const bool is = IsGlob(rest) ? MatchesVariant(evaluation->declared->matrix, rest, declared)
                                   : rest.empty() || variant.record.id == rest;
      if (is) here.push_back(&variant);
    }
    if (here.empty()) continue;
    candidates.push_back(absl::StrCat(evaluation->record.matrix, "/", rest));
    found.evaluation = evaluation;
    found.variants = std::move(here);
  }
  if (candidates.size() > 1) {
    return absl::FailedPreconditionError(absl::StrCat("'", rest, "' stands in several matrices: ",
                                                      absl::StrJoin(candidates, ", ")));
  }
  if (found.variants.empty()) {
    const std::string nearest = NearestWord(rest, ids);
    return absl::NotFoundError(absl::StrCat("there is no variant '", rest, "'",
                                            nearest.empty() ? "" : absl::StrCat("; the nearest is '", nearest, "'")));
  }
  return found;
}

absl::Status Coordinator::CancelStep(StepId step) {
  Decision decision;
  {
    MutexLock lock(mu_);
    if (IsFinal(state_->graph.state(step))) return absl::OkStatus();
    const std::string& derivation = state_->graph.spec(step).derivation;
    StepDetail detail{.cause = Cause::kCancelled, .message = "nobody wants it any more", .root = derivation};
    HYDRANT_RETURN_IF_ERROR(PlanInto(decision, step, StepEvent::kCancelled, std::move(detail)));
    if (const Lease* lease = state_->leases.FindSubject({.derivation = derivation})) {
      AttemptResult result{.outcome = "cancelled", .cause = Cause::kCancelled, .message = "cancelled",
                           .ended_at = options_.clock.Now()};
      decision.Record(EndAttempt{.attempt = lease->attempt, .token = lease->token, .lease_end = "revoked", .result = result});
      decision.Then([attempt = lease->attempt](FarmState& state) { state.leases.End(attempt); });
      decision.Tell([result](FarmObserver& observer) { observer.AttemptEnded(result); });
    }
  }
  return Carry(std::move(decision));
}

absl::Status Coordinator::CancelCheck(const std::string& key) {
  Decision decision;
  {
    MutexLock lock(mu_);
    CheckRecord after = state_->checks.at(key).record;
    const CheckRecord before = after;
    after.message = "cancelled";
    if (!decision.MoveCheckBy(before, CheckEvent::kInputsGone, std::move(after))) return absl::OkStatus();
    if (const Lease* lease = state_->leases.FindSubject({.check = key})) {
      AttemptResult result{.outcome = "cancelled", .cause = Cause::kCancelled, .message = "cancelled",
                           .ended_at = options_.clock.Now()};
      decision.Record(EndAttempt{.attempt = lease->attempt, .token = lease->token, .lease_end = "revoked", .result = result});
      decision.Then([attempt = lease->attempt](FarmState& state) { state.leases.End(attempt); });
    }
  }
  return Carry(std::move(decision));
}

absl::StatusOr<int64_t> Coordinator::CancelUnwanted() {
  std::vector<StepId> steps;
  std::set<std::string> checks;
  {
    MutexLock lock(mu_);
    steps = state_->graph.Unwanted();
    std::set<std::string> wanted;
    for (const auto& [id, evaluation] : state_->evaluations) {
      if (!evaluation.wanting) continue;
      for (const VariantEntry& variant : evaluation.variants) {
        if (variant.record.cause == Cause::kNone) wanted.insert(variant.checks.begin(), variant.checks.end());
      }
    }
    for (const auto& [key, entry] : state_->checks) {
      if (!IsFinal(entry.record.state) && !wanted.contains(key)) checks.insert(key);
    }
  }
  for (const std::string& key : checks) HYDRANT_RETURN_IF_ERROR(CancelCheck(key));
  for (StepId step : steps) HYDRANT_RETURN_IF_ERROR(CancelStep(step));
  return static_cast<int64_t>(steps.size() + checks.size());
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
    decision.Then([id](FarmState& state) {
      WantSteps(state, state.evaluations[id], false);
    });
  }
  return Carry(std::move(decision));
}

absl::Status Coordinator::CancelVariants(EvaluationId id, const std::set<int>& ordinals) {
  Decision decision;
  {
    MutexLock lock(mu_);
    const EvaluationEntry& evaluation = state_->evaluations.at(id);
    SaveVariants saved;
    for (const VariantEntry& variant : evaluation.variants) {
      if (!ordinals.contains(variant.record.ordinal)) continue;
      if (IsFinal(Describe(*state_, evaluation, variant, Waiting()).state)) continue;
      saved.variants.push_back(variant.record);
      saved.variants.back().cause = Cause::kCancelled;
      saved.variants.back().message = "cancelled";
    }
    if (saved.variants.empty()) return absl::FailedPreconditionError("nothing that was named is still to be done");
    decision.Record(saved);
    decision.Then([id, saved](FarmState& state) {
      EvaluationEntry& entry = state.evaluations[id];
      WantSteps(state, entry, false);
      for (VariantEntry& variant : entry.variants) {
        for (const VariantRecord& record : saved.variants) {
          if (record.ordinal != variant.record.ordinal) continue;
          variant.record = record;
          variant.known = true;
        }
      }
      WantSteps(state, entry, true);
    });
  }
  return Carry(std::move(decision));
}

absl::StatusOr<int64_t> Coordinator::Cancel(const Selector& selector) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  std::optional<StepId> step;
  EvaluationId id;
  std::set<int> ordinals;
  {
    MutexLock lock(mu_);
    if (selector.address.empty()) {
      HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation(selector.matrix, selector.evaluation));
      id = evaluation->record.id;
    } else {
      HYDRANT_ASSIGN_OR_RETURN(Found found, Find(selector.address, selector.matrix, selector.evaluation));
      step = found.step;
      if (found.evaluation != nullptr) id = found.evaluation->record.id;
      for (const VariantEntry* variant : found.variants) ordinals.insert(variant->record.ordinal);
    }
  }
  int64_t cancelled = 0;
  if (step) {
    HYDRANT_RETURN_IF_ERROR(CancelStep(*step));
    cancelled = 1;
  } else if (ordinals.empty()) {
    HYDRANT_RETURN_IF_ERROR(CancelEvaluation(id));
  } else {
    HYDRANT_RETURN_IF_ERROR(CancelVariants(id, ordinals));
  }
  if (!step) {
    HYDRANT_ASSIGN_OR_RETURN(cancelled, CancelUnwanted());
  }
  Advance();
  return cancelled;
}

Coordinator::Faults Coordinator::FaultsOf(const Found& found, const std::string& cause) const {
  const FarmState& farm = *state_;
  Faults faults;
  const auto add_step = [&](StepId step) {
    const StepState state = farm.graph.state(step);
    if (state == StepState::kSucceeded || !IsFinal(state)) return false;
    const std::vector<std::string> chain = farm.graph.ChainToRoot(step);
    auto root = chain.empty() ? std::optional<StepId>(step) : farm.graph.Find(chain.back());
    if (!root || (!cause.empty() && CauseName(farm.graph.detail(*root).cause) != cause)) return false;
    faults.steps.insert(*root);
    return true;
  };
  if (found.step) add_step(*found.step);
  for (const VariantEntry* variant : found.variants) {
    bool at_fault = false;
    if (IsEvaluatorDeath(variant->record.cause) && (cause.empty() || CauseName(variant->record.cause) == cause)) {
      faults.unknown = true;
    }
    for (const std::optional<StepId>& step : {variant->step, variant->environment_step}) {
      if (step) at_fault = add_step(*step) || at_fault;
    }
    for (const std::string& key : variant->checks) {
      const CheckRecord& check = farm.checks.at(key).record;
      const bool ended_badly = check.state == CheckState::kFailed || check.state == CheckState::kSkipped;
      if (!ended_badly || (!cause.empty() && CauseName(check.cause) != cause)) continue;
      faults.checks.insert(key);
      at_fault = true;
    }
    if (at_fault) faults.evaluations.insert(found.evaluation->record.id);
  }
  return faults;
}

absl::StatusOr<RetryResult> Coordinator::Retry(const Selector& selector, const std::string& cause) {
  std::string matrix_to_evaluate;
  RetryResult result;
  {
    MutexLock door(door_);
    HYDRANT_RETURN_IF_ERROR(Fresh());
    Faults faults;
    {
      MutexLock lock(mu_);
      HYDRANT_ASSIGN_OR_RETURN(Found found, Find(selector.address, selector.matrix, selector.evaluation));
      faults = FaultsOf(found, cause);
      if (faults.unknown && found.evaluation != nullptr) matrix_to_evaluate = found.evaluation->record.matrix;
    }
    if (faults.steps.empty() && faults.checks.empty() && matrix_to_evaluate.empty()) {
      return absl::FailedPreconditionError("nothing among what was named has failed");
    }
    for (EvaluationId id : faults.evaluations) {
      Decision decision;
      {
        MutexLock lock(mu_);
        EvaluationEntry& evaluation = state_->evaluations.at(id);
        if (IsFinal(evaluation.record.state) &&
            !decision.MoveEvaluationBy(evaluation.record, EvaluationEvent::kReopened, {})) {
          continue;
        }
        WantSteps(*state_, evaluation, true);
      }
      HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
    }
    for (StepId step : faults.steps) {
      Decision decision;
      {
        MutexLock lock(mu_);
        HYDRANT_RETURN_IF_ERROR(PlanInto(decision, step, RetryEventOf(state_->graph, step), {}));
        decision.Then([step](FarmState& state) { state.avoid.erase(step); });
      }
      HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
    }
    for (const std::string& key : faults.checks) {
      Decision decision;
      {
        MutexLock lock(mu_);
        CheckRecord after = state_->checks.at(key).record;
        const CheckRecord before = after;
        after.cause = Cause::kNone;
        after.message.clear();
        after.failed_attempts = 0;
        decision.MoveCheckBy(before, CheckEvent::kRetried, std::move(after));
        decision.Then([key](FarmState& state) { state.checks[key].avoid.clear(); });
      }
      HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
    }
    result.retried = static_cast<int64_t>(faults.steps.size() + faults.checks.size());
    Advance();
  }
  if (!matrix_to_evaluate.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(EvaluationRecord asked, Trigger(matrix_to_evaluate, "", 0));
    result.evaluation = asked.id;
  }
  return result;
}

}  // namespace hydrant
