// What follows from the state as it is: level-triggered, so that a lost event costs nothing and a restart finds its way.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/channel/gate.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "daemon/schedule/scheduler.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {

bool Coordinator::AdvanceSteps() {
  std::vector<std::pair<StepId, StepEvent>> due;
  {
    MutexLock lock(mu_);
    for (StepId step : state_->graph.DueBackoffs(options_.clock.Now())) due.emplace_back(step, StepEvent::kBackoffOver);
    if (state_->graph.counts()[static_cast<int>(StepState::kBuilt)] > 0) {
      for (StepId step = 0; step < state_->graph.size(); ++step) {
        if (state_->graph.state(step) == StepState::kBuilt && OutputsHeld(step, nullptr)) {
          due.emplace_back(step, StepEvent::kStaged);
        }
      }
    }
  }
  bool moved = false;
  for (const auto& [step, event] : due) {
    Decision decision;
    {
      MutexLock lock(mu_);
      StepDetail detail = state_->graph.detail(step);
      if (event == StepEvent::kStaged) detail = {.held_by = "ours"};
      if (!PlanInto(decision, step, event, std::move(detail)).ok()) continue;
    }
    if (!Carry(std::move(decision)).ok()) return false;
    moved = true;
  }
  return moved;
}

namespace {

// What the states of a check's steps mean for it, or nothing.
std::optional<CheckEvent> InputsEvent(const FarmState& state, const CheckEntry& check, std::string* why) {
  bool staged = check.output_step.has_value();
  for (const std::optional<StepId>& step : {check.output_step, check.environment_step}) {
    if (!step) continue;
    const StepState now = state.graph.state(*step);
    if (IsFinal(now) && now != StepState::kSucceeded) {
      *why = absl::StrCat(state.graph.spec(*step).name, " is ", std::string(StepStateName(now)));
      return CheckEvent::kInputsGone;
    }
    staged = staged && now == StepState::kSucceeded;
  }
  if (staged) return CheckEvent::kInputsStaged;
  return std::nullopt;
}

}  // namespace

bool Coordinator::AdvanceChecks() {
  Decision decision;
  {
    MutexLock lock(mu_);
    const absl::Time now = options_.clock.Now();
    for (const auto& [key, entry] : state_->checks) {
      if (entry.record.state != CheckState::kWanted) continue;
      std::string why;
      auto event = InputsEvent(*state_, entry, &why);
      if (!event) continue;
      CheckRecord after = entry.record;
      after.message = why;
      decision.MoveCheckBy(entry.record, *event, std::move(after));
      if (*event == CheckEvent::kInputsStaged) {
        decision.Then([key = key, now](FarmState& state) { state.checks[key].ready_since = now; });
      }
    }
  }
  if (decision.empty()) return false;
  return Carry(std::move(decision)).ok();
}

bool Coordinator::PublishPassed() {
  // By derivation: variants that share one are published at once.
  std::map<std::string, std::vector<std::string>> passed;
  {
    MutexLock lock(mu_);
    for (auto& [id, evaluation] : state_->evaluations) {
      if (!evaluation.wanting) continue;
      for (VariantEntry& variant : evaluation.variants) {
        if (variant.published || !variant.step) continue;
        if (state_->graph.state(*variant.step) != StepState::kSucceeded) continue;
        if (!ChecksPassed(*state_, evaluation, variant)) continue;
        if (Published(variant)) {
          variant.published = true;
          ++version_;
          changed_.NotifyAll();
          continue;
        }
        std::vector<std::string>& roots = passed[variant.record.derivation];
        roots.clear();
        for (const auto& [name, path] : variant.record.outputs) roots.push_back(path);
      }
    }
  }
  bool moved = false;
  for (const auto& [derivation, roots] : passed) {
    auto published = options_.publisher.Publish(roots);
    if (!published.ok()) {
      Log(LogLevel::kWarning, "not published", {{"derivation", derivation}, {"reason", published.status().ToString()}});
      continue;
    }
    MutexLock lock(mu_);
    for (auto& [id, evaluation] : state_->evaluations) {
      for (VariantEntry& variant : evaluation.variants) {
        if (variant.record.derivation == derivation) variant.published = true;
      }
    }
    ++version_;
    changed_.NotifyAll();
    moved = true;
  }
  return moved;
}

namespace {

struct Settling {
  bool settled = true;      // every variant final or waiting
  bool waiting = false;     // some wait
  bool incomplete = false;  // some are unknown to a dead evaluator
  std::vector<GateVariant> gate;
};

Settling Look(const FarmState& state, const EvaluationEntry& evaluation, const WaitingRule& rule) {
  Settling look;
  for (const VariantEntry& variant : evaluation.variants) {
    const VariantView view = Describe(state, evaluation, variant, rule);
    look.waiting = look.waiting || view.state == VariantState::kWaiting;
    look.settled = look.settled && (IsFinal(view.state) || view.state == VariantState::kWaiting);
    look.incomplete = look.incomplete || IsEvaluatorDeath(variant.record.cause);
    look.gate.push_back({.id = variant.record.id, .required = variant.required,
                         .cached = view.state == VariantState::kCached});
  }
  return look;
}

}  // namespace

bool Coordinator::SettleEvaluations() {
  Decision decision;
  {
    MutexLock lock(mu_);
    const absl::Time now = options_.clock.Now();
    for (auto& [id, evaluation] : state_->evaluations) {
      const EvaluationRecord& record = evaluation.record;
      const bool ended = record.state == EvaluationState::kSettled || record.state == EvaluationState::kIncomplete;
      if (record.state != EvaluationState::kEvaluated && !(ended && evaluation.wanting)) continue;
      const Settling look = Look(*state_, evaluation, Waiting());
      if (ended) {
        // A variant that waited can go on, or one was retried.
        if (!look.settled) decision.MoveEvaluationBy(record, EvaluationEvent::kReopened, {});
        continue;
      }
      if (!look.settled) continue;
      const EvaluationEvent event = look.incomplete ? EvaluationEvent::kSettledIncomplete : EvaluationEvent::kSettled;
      const EvaluationState after = look.incomplete ? EvaluationState::kIncomplete : EvaluationState::kSettled;
      const Matrix& matrix = evaluation.declared->matrix;
      const Verdict verdict = JudgeGate(after, matrix.gate.declared, look.gate, evaluation.unmatched);
      MoveEvaluation move{.message = look.incomplete ? "the evaluator died on some variants" : "",
                          .settled_at = now, .gate_passed = verdict.passed};
      if (!decision.MoveEvaluationBy(record, event, move)) continue;
      if (!look.waiting) decision.Then([id = id](FarmState& state) {
        WantSteps(state, state.evaluations[id], false);
      });
      decision.Tell([took = now - record.requested_at](FarmObserver& observer) { observer.Evaluated(took); });
      if (!verdict.passed || !record.only.empty()) continue;
      auto channel = state_->channels.find(record.matrix);
      const EvaluationId at = channel == state_->channels.end() ? EvaluationId{} : channel->second.evaluation;
      if (!MayMove(at, id)) continue;
      ChannelRecord to{.name = record.matrix, .matrix = record.matrix, .evaluation = id,
                       .revision = record.revision, .at = now};
      decision.Record(MoveChannel{.from = at, .channel = to});
      decision.Then([to](FarmState& state) { state.channels[to.name] = to; });
    }
  }
  if (decision.empty()) return false;
  return Carry(std::move(decision)).ok();
}

void Coordinator::PlanPlacements(Decision& decision) const {
  std::vector<FreeWorker> workers;
  for (const auto& [name, worker] : state_->workers.all()) {
    if (worker.state != WorkerState::kConnected) continue;
    const int free = worker.offer.slots - state_->leases.BusySlots(name);
    if (free <= 0) continue;
    workers.push_back({.name = name, .offer = worker.offer, .free_slots = free,
                       .busy_gpus = state_->leases.BusyGpus(name)});
  }
  if (workers.empty()) return;

  // Steps by id; checks behind them, by their place in `checks`.
  std::vector<ReadyWork> ready;
  std::vector<const CheckEntry*> checks;
  const uint64_t first_check = state_->graph.size();
  if (!state_->graph.ready().empty()) {
    const std::vector<absl::Duration> remaining = RemainingPaths(state_->graph, state_->estimate);
    for (StepId step : state_->graph.ready()) {
      ready.push_back({.key = step, .demand = DemandOf(*state_, step), .remaining = remaining[step],
                       .ready_since = state_->ready_since.contains(step) ? state_->ready_since.at(step)
                                                                         : absl::InfinitePast()});
    }
  }
  for (const auto& [key, entry] : state_->checks) {
    if (entry.record.state != CheckState::kReady) continue;
    ready.push_back({.key = first_check + checks.size(), .demand = DemandOf(entry), .remaining = entry.record.timeout,
                     .ready_since = entry.ready_since});
    checks.push_back(&entry);
  }

  const absl::Time now = options_.clock.Now();
  AttemptId attempt = state_->last_attempt;
  LeaseToken token = state_->last_token;
  for (const Placement& placement : Place(std::move(ready), std::move(workers))) {
    Lease lease{.attempt = {++attempt.value}, .token = {++token.value}, .worker = placement.worker,
                .instance = state_->workers.Find(placement.worker)->instance, .gpu_uuid = placement.gpu_uuid,
                .granted_at = now, .expires_at = now + state_->leases.duration(), .stage_at = now};
    absl::Time since = now;
    if (placement.key < first_check) {
      const StepId step = static_cast<StepId>(placement.key);
      lease.subject.derivation = state_->graph.spec(step).derivation;
      if (state_->ready_since.contains(step)) since = state_->ready_since.at(step);
      if (!PlanInto(decision, step, StepEvent::kGranted, state_->graph.detail(step)).ok()) continue;
    } else {
      const CheckEntry& check = *checks[placement.key - first_check];
      lease.subject.check = check.record.key;
      since = check.ready_since;
      if (!decision.MoveCheckBy(check.record, CheckEvent::kGranted, check.record)) continue;
    }
    decision.Record(GrantLease{lease});
    decision.Then([lease](FarmState& state) {
      state.last_attempt = std::max(state.last_attempt, lease.attempt);
      state.last_token = std::max(state.last_token, lease.token);
      absl::Status granted = state.leases.Grant(lease);
      if (!granted.ok()) Log(LogLevel::kError, "lease not granted", {{"reason", granted.ToString()}});
    });
    decision.Tell([took = now - since](FarmObserver& observer) { observer.LeaseGranted(took); });
  }
}

bool Coordinator::Dispatch() {
  Decision decision;
  {
    MutexLock lock(mu_);
    PlanPlacements(decision);
  }
  if (decision.empty()) return false;
  return Carry(std::move(decision)).ok();
}

void Coordinator::NoteUnplaceable() {
  MutexLock lock(mu_);
  FarmState& state = *state_;
  const absl::Time now = options_.clock.Now();
  bool changed = false;
  const auto note = [&](auto& since, const auto& key, const Demand& demand) {
    if (WhyNobody(state, demand).empty()) {
      changed = since.erase(key) > 0 || changed;
    } else {
      auto [it, added] = since.try_emplace(key, now);
      // The moment at which it begins to count as waiting is a change to whoever watches.
      changed = changed || added || (now - it->second >= options_.waiting_after &&
                                     now - it->second < options_.waiting_after + absl::Seconds(2));
    }
  };
  for (StepId step : state.graph.ready()) note(state.step_unplaceable, step, DemandOf(state, step));
  for (const auto& [key, entry] : state.checks) {
    if (entry.record.state == CheckState::kReady) {
      note(state.check_unplaceable, key, DemandOf(entry));
    } else {
      state.check_unplaceable.erase(key);
    }
  }
  if (changed) {
    ++version_;
    changed_.NotifyAll();
  }
}

}  // namespace hydrant
