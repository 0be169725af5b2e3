#include "daemon/coordinator/backlog.h"

#include <algorithm>

#include "daemon/coordinator/waiting.h"

namespace hydrant {
namespace {

Backlog PieceOf(const FarmState& state, StepId step) {
  const StepSpec& spec = state.graph.spec(step);
  Backlog piece{.id = spec.derivation, .demand = DemandOf(state, step)};
  if (const std::optional<Cost> cost = state.estimate.CostOf(spec.name)) {
    piece.time = cost->building;
    piece.core_time = cost->cpu > absl::ZeroDuration() ? cost->cpu : cost->building;
  }
  return piece;
}

Backlog PieceOf(const FarmState& state, const CheckEntry& check) {
  Backlog piece{.id = check.record.key, .demand = DemandOf(check)};
  piece.time = state.estimate.CheckTime(check.record.name, NameOfPath(check.record.output_path));
  piece.core_time = piece.time.value_or(absl::ZeroDuration());
  return piece;
}

// What is left of it after so long.
void Run(absl::Duration elapsed, Backlog& piece) {
  piece.running = true;
  if (!piece.time || *piece.time <= absl::ZeroDuration()) return;
  const absl::Duration left = std::max(*piece.time - elapsed, absl::ZeroDuration());
  piece.core_time *= absl::FDivDuration(left, *piece.time);
  piece.time = left;
}

bool Waits(StepState state) {
  return state == StepState::kReady || state == StepState::kBlocked || state == StepState::kBackingOff;
}

}  // namespace

std::vector<Backlog> BacklogOf(const FarmState& state, absl::Time now) {
  std::vector<Backlog> backlog;
  for (const auto& [attempt, lease] : state.leases.all()) {
    if (lease.stage > AttemptStage::kBuilding) continue;
    const auto step = state.graph.Find(lease.subject.derivation);
    const auto check = state.checks.find(lease.subject.check);
    if (!step && check == state.checks.end()) continue;
    backlog.push_back(step ? PieceOf(state, *step) : PieceOf(state, check->second));
    Run(lease.stage == AttemptStage::kBuilding ? now - lease.stage_at : absl::ZeroDuration(), backlog.back());
  }
  for (StepId step = 0; step < state.graph.size(); ++step) {
    if (Waits(state.graph.state(step)) && state.graph.wanted(step)) backlog.push_back(PieceOf(state, step));
  }
  for (const auto& [key, check] : state.checks) {
    const CheckState at = check.record.state;
    if ((at == CheckState::kWanted || at == CheckState::kReady) && IsWanted(state, check))
      backlog.push_back(PieceOf(state, check));
  }
  return backlog;
}

}  // namespace hydrant
