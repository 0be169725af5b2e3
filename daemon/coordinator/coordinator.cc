#include "daemon/coordinator/coordinator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/decision.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {

Coordinator::Coordinator(Options options) : options_(std::move(options)) {
  MutexLock lock(mu_);
  state_ = std::make_unique<FarmState>(options_.farm.lease, options_.farm.workers);
}

absl::Status Coordinator::Start() {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Advance();
  return absl::OkStatus();
}

absl::Status Coordinator::Fresh() {
  if (!stale_) return absl::OkStatus();
  auto recorded = options_.store.Load();
  if (!recorded.ok()) {
    MutexLock lock(mu_);
    record_answers_ = false;
    return recorded.status();
  }
  std::vector<NarInfoRecord> narinfos = std::move(recorded->narinfos);
  HYDRANT_ASSIGN_OR_RETURN(auto restored, Restore(*std::move(recorded), options_.farm, options_.clock.Now()));
  options_.catalogue.Load(std::move(narinfos));
  std::vector<EvaluationRecord> interrupted;
  {
    MutexLock lock(mu_);
    // Who is connected is a fact of the connections, not of the record.
    for (const auto& [name, worker] : state_->workers.all()) {
      if (worker.state != WorkerState::kGone) restored->workers.Restore(worker);
    }
    state_ = std::move(restored);
    record_answers_ = true;
    loaded_ = true;
    const absl::Time now = options_.clock.Now();
    for (StepId step : state_->graph.ready()) state_->ready_since[step] = now;
    for (auto& [id, evaluation] : state_->evaluations) {
      for (VariantEntry& variant : evaluation.variants) variant.published = Published(variant);
      bool open = !IsFinal(evaluation.record.state);
      for (const VariantEntry& variant : evaluation.variants) {
        open = open || !IsFinal(Describe(*state_, evaluation, variant, Waiting()).state);
      }
      if (open) WantSteps(*state_, evaluation, true);
      if (evaluation.record.state == EvaluationState::kEvaluating) interrupted.push_back(evaluation.record);
    }
  }
  stale_ = false;
  for (const EvaluationRecord& record : interrupted) {
    Decision decision;
    decision.MoveEvaluationBy(record, EvaluationEvent::kInterrupted, {});
    HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  }
  // A step that runs without a lease lost its attempt between two commits of an older daemon.
  std::vector<StepId> orphans;
  {
    MutexLock lock(mu_);
    for (StepId step = 0; step < state_->graph.size(); ++step) {
      if (state_->graph.state(step) != StepState::kRunning) continue;
      if (!state_->leases.FindSubject({.derivation = state_->graph.spec(step).derivation})) orphans.push_back(step);
    }
  }
  for (StepId step : orphans) {
    Decision decision;
    {
      MutexLock lock(mu_);
      StepDetail detail{.cause = Cause::kLost, .message = "its lease was not in the record",
                        .not_before = options_.clock.Now()};
      HYDRANT_RETURN_IF_ERROR(PlanInto(decision, step, StepEvent::kFailedByFarm, detail));
    }
    HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  }
  Announce();
  return absl::OkStatus();
}

absl::Status Coordinator::Record(const Batch& batch) {
  absl::Status status = options_.store.Commit(batch);
  if (!status.ok()) {
    // Whatever it was, memory can be trusted again only after it was read anew.
    stale_ = true;
    Log(status.code() == absl::StatusCode::kUnavailable ? LogLevel::kWarning : LogLevel::kError, "not recorded",
        {{"reason", status.ToString()}});
    MutexLock lock(mu_);
    record_answers_ = status.code() != absl::StatusCode::kUnavailable;
  }
  return status;
}

absl::Status Coordinator::Carry(Decision decision) {
  if (decision.empty()) return absl::OkStatus();
  HYDRANT_RETURN_IF_ERROR(Record(decision.batch));
  const absl::Time now = options_.clock.Now();
  absl::Status applied;
  {
    MutexLock lock(mu_);
    applied = state_->graph.Apply(decision.moves);
    if (applied.ok()) {
      for (const StepMove& move : decision.moves) {
        if (move.to == StepState::kReady) {
          state_->ready_since[move.step] = now;
        } else {
          state_->ready_since.erase(move.step);
          state_->step_unplaceable.erase(move.step);
        }
      }
      for (auto& effect : decision.then) effect(*state_);
    }
    ++version_;
    changed_.NotifyAll();
  }
  if (!applied.ok()) {
    Log(LogLevel::kError, "a recorded change could not be applied", {{"reason", applied.ToString()}});
    stale_ = true;
    return applied;
  }
  if (options_.observer != nullptr) {
    for (auto& event : decision.told) event(*options_.observer);
  }
  return absl::OkStatus();
}

void Coordinator::Announce() {
  MutexLock lock(mu_);
  ++version_;
  changed_.NotifyAll();
}

uint64_t Coordinator::Version() const {
  MutexLock lock(mu_);
  return version_;
}

uint64_t Coordinator::AwaitChange(uint64_t seen, absl::Duration timeout) const {
  const absl::Time until = absl::Now() + timeout;
  MutexLock lock(mu_);
  while (version_ == seen) {
    const absl::Duration left = until - absl::Now();
    if (left <= absl::ZeroDuration() || !changed_.WaitFor(mu_, left)) break;
  }
  return version_;
}

bool Coordinator::RecordAnswers() const {
  MutexLock lock(mu_);
  return record_answers_;
}

absl::Status Coordinator::Loaded() const {
  return loaded_ ? absl::OkStatus() : absl::UnavailableError("the record has not been read yet: the database is away");
}

absl::Status Coordinator::Ready() const {
  MutexLock lock(mu_);
  return Loaded();
}

void Coordinator::Tick() {
  MutexLock door(door_);
  if (absl::Status fresh = Fresh(); !fresh.ok()) {
    Log(LogLevel::kWarning, "the record does not answer", {{"reason", fresh.ToString()}});
    return;
  }
  {
    MutexLock lock(mu_);
    if (!state_->workers.Expire(options_.clock.Now()).empty()) {
      ++version_;
      changed_.NotifyAll();
    }
  }
  ExpireLeases();
  RecordRenewals();
  NoteUnplaceable();
  Advance();
}

void Coordinator::Advance() {
  // Each pass commits what follows from the one before; the bound only keeps a fault from becoming a busy loop.
  for (int pass = 0; pass < 1000 && !stale_; ++pass) {
    bool moved = AdvanceSteps();
    moved = AdvanceChecks() || moved;
    moved = PublishPassed() || moved;
    moved = SettleEvaluations() || moved;
    moved = Dispatch() || moved;
    if (!moved) return;
  }
}

absl::Status Coordinator::PlanInto(Decision& decision, StepId step, StepEvent event, StepDetail detail) const {
  HYDRANT_ASSIGN_OR_RETURN(std::vector<StepMove> moves, state_->graph.Plan(step, event, std::move(detail)));
  decision.Move(state_->graph, std::move(moves));
  return absl::OkStatus();
}

WaitingRule Coordinator::Waiting() const { return {options_.clock.Now(), options_.waiting_after}; }

absl::Duration Coordinator::BackoffAfter(int failures) const {
  absl::Duration pause = options_.backoff;
  for (int i = 1; i < failures && pause < absl::Hours(1); ++i) pause *= 2;
  return std::min(pause, absl::Hours(1));
}

bool Coordinator::OutputsHeld(StepId step, std::string* missing) const {
  for (const auto& [name, path] : state_->graph.spec(step).outputs) {
    if (options_.catalogue.FindPath(path) == nullptr) {
      if (missing != nullptr) *missing = path;
      return false;
    }
  }
  return true;
}

bool Coordinator::Published(const VariantEntry& variant) const {
  if (!variant.step || state_->graph.state(*variant.step) != StepState::kSucceeded) return false;
  const std::string& held_by = state_->graph.detail(*variant.step).held_by;
  if (!held_by.empty() && held_by != "ours") return true;
  for (const auto& [name, path] : variant.record.outputs) {
    auto info = options_.catalogue.FindPath(path);
    if (info == nullptr || info->state != NarInfoState::kPublished) return false;
  }
  return !variant.record.outputs.empty();
}

}  // namespace hydrant
