// Memory made anew from the record: at start, and after any doubt about a commit. What the record does not say is kept or
// begun again here.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "daemon/coordinator/waiting.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// Who is connected is a fact of the connections; what the operator said is one of the record.
void KeepPresence(const WorkerRegistry& before, FarmState& restored) {
  WorkerRegistry kept = before;
  for (const auto& [name, recorded] : restored.workers.all()) {
    if (kept.Find(name) == nullptr) {
      kept.Restore(recorded);
    } else if (recorded.state == WorkerState::kRevoked) {
      (void)kept.Revoke(name);
    } else {
      (void)kept.Drain(name, recorded.drained_by_operator);
    }
  }
  for (const auto& [name, worker] : kept.all()) {
    const Worker* recorded = restored.workers.Find(name);
    if (recorded == nullptr || recorded->offer != worker.offer) restored.unsaved_workers.insert(name);
  }
  restored.workers = std::move(kept);
}

bool IsEnded(const EvaluationEntry& evaluation) {
  return evaluation.record.state == EvaluationState::kSettled || evaluation.record.state == EvaluationState::kIncomplete;
}

bool HasUnfinished(const FarmState& state, const EvaluationEntry& evaluation, const WaitingRule& rule) {
  return std::any_of(evaluation.variants.begin(), evaluation.variants.end(), [&](const VariantEntry& variant) {
    return !IsFinal(Describe(state, evaluation, variant, rule).state);
  });
}

// What only settled evaluations want waited when they settled: that hydrantd was away is no reason to reopen them.
void KeepWaiting(FarmState& state, const std::set<StepId>& open_steps, const std::set<std::string>& open_checks) {
  const auto keep = [&state](auto& noted, const auto& key, const Demand& demand) {
    auto nobody = WhyNobody(state, demand);
    if (nobody) noted[key] = {absl::InfinitePast(), std::make_shared<const Nobody>(*std::move(nobody))};
  };
  for (StepId step : state.graph.ready()) {
    const bool only_settled = state.graph.wanted(step) && !open_steps.contains(step);
    if (only_settled) keep(state.step_unplaceable, step, DemandOf(state, step));
  }
  for (const std::string& key : state.ready_checks) {
    const CheckEntry& check = state.checks.at(key);
    const bool only_settled = IsWanted(state, check) && !open_checks.contains(key);
    if (only_settled) keep(state.check_unplaceable, key, DemandOf(check));
  }
}

}  // namespace

absl::Status Coordinator::Fresh() {
  if (options_.commits != nullptr && options_.commits->Take()) stale_ = true;
  if (!stale_) return absl::OkStatus();
  absl::Status status = Reload();
  // Whatever is wrong with the record, it is not what the asker asked.
  return status.ok() ? status : absl::UnavailableError(status.message());
}

absl::Status Coordinator::Reload() {
  stale_ = true;
  absl::Status status = ReadRecord();
  if (status.ok()) status = Mend();
  if (status.ok()) {
    if (!reload_error_.empty()) Log(LogLevel::kInfo, "the record answers again");
    reload_error_.clear();
    Announce();
    return status;
  }
  stale_ = true;
  if (reload_error_ != status.ToString()) {
    reload_error_ = status.ToString();
    Log(LogLevel::kWarning, "the record does not answer", {{"reason", reload_error_}});
  }
  MutexLock lock(mu_);
  record_answers_ = false;
  return status;
}

absl::Status Coordinator::ReadRecord() {
  HYDRANT_ASSIGN_OR_RETURN(Recorded recorded, options_.store.Load());
  std::vector<NarInfoRecord> narinfos = std::move(recorded.narinfos);
  const auto durations = std::move(recorded.durations);
  const auto check_durations = std::move(recorded.check_durations);
  HYDRANT_ASSIGN_OR_RETURN(auto restored, Restore(std::move(recorded), options_.farm, options_.clock.Now()));
  RestoreHistory(*restored, durations, check_durations, narinfos);
  FillCatalogue(std::move(narinfos));
  MutexLock lock(mu_);
  KeepPresence(state_->workers, *restored);
  Resume(*restored);
  state_ = std::move(restored);
  record_answers_ = true;
  loaded_ = true;
  stale_ = false;
  return absl::OkStatus();
}

void Coordinator::FillCatalogue(std::vector<NarInfoRecord> records) {
  if (!Ready().ok()) return options_.catalogue.Load(std::move(records));
  // Uploads go on meanwhile: what was staged or published after the record was read must not be forgotten.
  std::erase_if(records, [&](const NarInfoRecord& record) {
    auto there = options_.catalogue.FindPath(record.path);
    if (there == nullptr) return false;
    if (there->state != NarInfoState::kPublished) return there->state == record.state;
    const bool opened = record.state == NarInfoState::kPublished && record.tier == NarInfoTier::kPublic;
    return !opened || there->tier == NarInfoTier::kPublic;
  });
  options_.catalogue.Put(std::move(records));
}

void Coordinator::Resume(FarmState& state) const {
  const absl::Time now = options_.clock.Now();
  for (StepId step : state.graph.ready()) state.ready_since[step] = now;
  for (const std::string& key : state.ready_checks) state.checks.at(key).ready_since = now;
  for (auto& [id, evaluation] : state.evaluations) {
    for (VariantEntry& variant : evaluation.variants) variant.published = Published(state, variant);
    if (!IsFinal(evaluation.record.state)) WantSteps(state, evaluation, true);
  }
  std::set<StepId> open_steps;
  std::set<std::string> open_checks;
  for (StepId step : state.graph.ready()) {
    if (state.graph.wanted(step)) open_steps.insert(step);
  }
  for (const std::string& key : state.ready_checks) {
    if (IsWanted(state, state.checks.at(key))) open_checks.insert(key);
  }
  for (auto& [id, evaluation] : state.evaluations) {
    if (!IsEnded(evaluation)) continue;
    if (HasUnfinished(state, evaluation, Waiting())) WantSteps(state, evaluation, true);
  }
  KeepWaiting(state, open_steps, open_checks);
  NoteWaiting(state, Waiting());
}

absl::Status Coordinator::Mend() {
  Decision decision, owed;
  {
    MutexLock lock(mu_);
    const FarmState& state = *state_;
    const absl::Time now = options_.clock.Now();
    for (const auto& [id, evaluation] : state.evaluations) {
      const bool interrupted = evaluation.record.state == EvaluationState::kEvaluating && !evaluating_.contains(id);
      if (interrupted) decision.MoveEvaluationBy(evaluation.record, EvaluationEvent::kInterrupted, {});
    }
    const StepDetail lost{.cause = Cause::kLost, .message = "its lease was not in the record",
                          .not_before = now};
    std::vector<StepHappening> orphans;
    for (StepId step = 0; step < state.graph.size(); ++step) {
      if (state.graph.state(step) != StepState::kRunning) continue;
      const AttemptSubject subject{.derivation = state.graph.spec(step).derivation};
      if (state.leases.FindSubject(subject) == nullptr) orphans.push_back({step, StepEvent::kFailedByFarm, lost});
    }
    HYDRANT_RETURN_IF_ERROR(PlanAllInto(decision, orphans));
    for (const auto& [key, check] : state.checks) {
      if (check.record.state != CheckState::kRunning || state.leases.FindSubject({.check = key}) != nullptr) continue;
      decision.MoveCheckBy(check.record, CheckEvent::kFailedByFarm, check.record);
      decision.Then([key = key, now](FarmState& farm) { farm.checks.at(key).ready_since = now; });
    }
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  {
    MutexLock lock(mu_);
    owed.Move(state_->graph, state_->graph.Owed());
  }
  return Carry(std::move(owed));
}

}  // namespace hydrant
