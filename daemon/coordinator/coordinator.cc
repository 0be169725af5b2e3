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
  HYDRANT_RETURN_IF_ERROR(Reload());
  Advance();
  return absl::OkStatus();
}

absl::Status Coordinator::Record(const Batch& batch) {
  absl::Status status = options_.store.Commit(batch);
  if (status.ok()) return status;
  // A text that cannot be kept is the asker's fault, and nothing happened.
  if (status.code() == absl::StatusCode::kInvalidArgument) return status;
  // Whatever else it was, memory can be trusted again only after it was read anew.
  stale_ = true;
  const bool away = status.code() == absl::StatusCode::kUnavailable;
  Log(away ? LogLevel::kWarning : LogLevel::kError, "not recorded", {{"reason", status.ToString()}});
  MutexLock lock(mu_);
  record_answers_ = !away;
  // A guard that did not hold says that memory was wrong, not whoever asked: it is to ask again.
  return away ? status : absl::UnavailableError(status.message());
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
      for (const StepMove& move : decision.moves) StepMoved(*state_, move.step, now);
      for (auto& effect : decision.then) effect(*state_);
    }
    ++version_;
    changed_.NotifyAll();
  }
  if (!applied.ok()) {
    Log(LogLevel::kError, "a recorded change could not be applied", {{"reason", applied.ToString()}});
    stale_ = true;
    return absl::UnavailableError(applied.message());
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
  if (!Fresh().ok()) return;  // it was logged
  bool expired = false;
  {
    MutexLock lock(mu_);
    expired = !state_->workers.Expire(options_.clock.Now()).empty();
  }
  if (expired) Announce();
  ExpireLeases();
  if (!stale_) RecordRenewals();
  if (!stale_ && !RecordWorkers().ok()) return;
  NoteUnplaceable();
  Advance();
}

void Coordinator::Advance() {
  // Each pass commits what follows from the one before; the bound only keeps a fault from becoming a busy loop.
  for (int pass = 0; pass < 1000; ++pass) {
    bool moved = false;
    for (bool (Coordinator::*follow)() : {&Coordinator::AdvanceSteps, &Coordinator::AdvanceChecks,
                                          &Coordinator::PublishPassed, &Coordinator::SettleEvaluations,
                                          &Coordinator::Dispatch}) {
      if (stale_) return;
      moved = (this->*follow)() || moved;
    }
    if (!moved) return;
  }
  Log(LogLevel::kError, "what follows from a change has no end; the rest waits for the next tick");
}

absl::Status Coordinator::PlanAllInto(Decision& decision, const std::vector<StepHappening>& happenings) const {
  if (happenings.empty()) return absl::OkStatus();
  HYDRANT_ASSIGN_OR_RETURN(std::vector<StepMove> moves, state_->graph.PlanAll(happenings));
  decision.Move(state_->graph, std::move(moves));
  return absl::OkStatus();
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

bool Coordinator::Published(const FarmState& state, const VariantEntry& variant) const {
  if (!variant.step || state.graph.state(*variant.step) != StepState::kSucceeded) return false;
  const std::string& held_by = state.graph.detail(*variant.step).held_by;
  if (!held_by.empty() && held_by != "ours") return true;
  for (const auto& [name, path] : variant.record.outputs) {
    auto info = options_.catalogue.FindPath(path);
    if (info == nullptr || info->state != NarInfoState::kPublished) return false;
  }
  return !variant.record.outputs.empty();
}

}  // namespace hydrant
