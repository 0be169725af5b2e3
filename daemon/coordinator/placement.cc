// Ready work to free workers: what the scheduler is asked, and its answer as leases.
#include <algorithm>
#include <limits>
#include <utility>

#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "daemon/coordinator/waiting.h"
#include "daemon/schedule/scheduler.h"
#include "lib/base/log.h"

namespace hydrant {
namespace {

constexpr int kUnwanted = std::numeric_limits<int>::min();

std::vector<FreeWorker> ConnectedWorkers(const FarmState& state) {
  std::vector<FreeWorker> workers;
  for (const auto& [name, worker] : state.workers.all()) {
    if (worker.state != WorkerState::kConnected) continue;
    workers.push_back({.name = name, .offer = worker.offer,
                       .free_slots = std::max(0, worker.offer.slots - state.leases.BusySlots(name)),
                       .busy_gpus = state.leases.BusyGpus(name)});
  }
  return workers;
}

// By step: the highest priority of an evaluation that wants it, below all of them when none does.
std::vector<int> PrioritiesOf(const FarmState& state) {
  std::vector<const EvaluationEntry*> wanting;
  for (const auto& [id, evaluation] : state.evaluations) {
    if (evaluation.wanting) wanting.push_back(&evaluation);
  }
  std::stable_sort(wanting.begin(), wanting.end(), [](const EvaluationEntry* a, const EvaluationEntry* b) {
    return a->record.priority > b->record.priority;
  });
  std::vector<int> priorities(state.graph.size(), kUnwanted);
  std::vector<StepId> todo;
  for (const EvaluationEntry* evaluation : wanting) {
    const auto reach = [&](StepId step) {
      if (priorities[step] != kUnwanted || IsFinal(state.graph.state(step))) return;
      priorities[step] = evaluation->record.priority;
      todo.push_back(step);
    };
    for (const VariantEntry& variant : evaluation->variants) {
      if (variant.record.cause != Cause::kNone) continue;
      if (variant.step) reach(*variant.step);
      if (variant.environment_step) reach(*variant.environment_step);
    }
    while (!todo.empty()) {
      const StepId step = todo.back();
      todo.pop_back();
      for (StepId input : state.graph.inputs(step)) reach(input);
    }
  }
  return priorities;
}

int PriorityOf(const FarmState& state, const CheckEntry& check) {
  int priority = kUnwanted;
  for (const VariantRef& ref : check.users) {
    const EvaluationEntry& evaluation = state.evaluations.at(ref.evaluation);
    if (evaluation.wanting) priority = std::max(priority, evaluation.record.priority);
  }
  return priority;
}

// Steps by id; behind them `checks` by place.
std::vector<ReadyWork> ReadyOf(const FarmState& state, const std::vector<const CheckEntry*>& checks) {
  std::vector<ReadyWork> ready;
  if (!state.graph.ready().empty()) {
    const std::vector<absl::Duration> remaining = RemainingPaths(state.graph, state.estimate);
    const std::vector<int> priorities = PrioritiesOf(state);
    for (StepId step : state.graph.ready()) {
      ready.push_back({.key = step, .demand = DemandOf(state, step), .priority = priorities[step],
                       .remaining = remaining[step], .ready_since = state.ready_since.at(step)});
    }
  }
  for (size_t i = 0; i < checks.size(); ++i) {
    const CheckEntry& check = *checks[i];
    ready.push_back({.key = state.graph.size() + i, .demand = DemandOf(check), .priority = PriorityOf(state, check),
                     .remaining = check.record.timeout, .ready_since = check.ready_since});
  }
  return ready;
}

}  // namespace

void Coordinator::PlanPlacements(Decision& decision) const {
  const FarmState& farm = *state_;
  if (farm.graph.ready().empty() && farm.ready_checks.empty()) return;
  std::vector<FreeWorker> workers = ConnectedWorkers(farm);
  const bool free = std::any_of(workers.begin(), workers.end(), [](const auto& worker) { return worker.free_slots > 0; });
  if (!free) return;
  std::vector<const CheckEntry*> checks;
  for (const std::string& key : farm.ready_checks) checks.push_back(&farm.checks.at(key));

  const absl::Time now = options_.clock.Now();
  AttemptId attempt = farm.last_attempt;
  LeaseToken token = farm.last_token;
  for (const Placement& placement : Place(ReadyOf(farm, checks), std::move(workers))) {
    Lease lease{.attempt = {++attempt.value}, .token = {++token.value}, .worker = placement.worker,
                .instance = farm.workers.Find(placement.worker)->instance, .gpu_uuid = placement.gpu_uuid,
                .granted_at = now, .expires_at = now + farm.leases.duration(), .stage_at = now};
    absl::Time since;
    if (placement.key < farm.graph.size()) {
      const StepId step = static_cast<StepId>(placement.key);
      lease.subject.derivation = farm.graph.spec(step).derivation;
      since = farm.ready_since.at(step);
      if (!PlanInto(decision, step, StepEvent::kGranted, farm.graph.detail(step)).ok()) continue;
    } else {
      const CheckEntry& check = *checks[placement.key - farm.graph.size()];
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
    // Whatever makes a difference here is announced.
    if (dispatched_ == version_) return false;
    PlanPlacements(decision);
    dispatched_ = version_;
  }
  if (decision.empty()) return false;
  if (!Carry(std::move(decision)).ok()) return false;
  MutexLock lock(mu_);
  dispatched_ = version_;
  return true;
}

void Coordinator::NoteUnplaceable() {
  MutexLock lock(mu_);
  if (!NoteWaiting(*state_, Waiting())) return;
  ++version_;
  changed_.NotifyAll();
}

}  // namespace hydrant
