// What is ready but that no connected worker could take: since when, why, and what waits behind it. Waiting is not a failure.
// Pure; knows nothing of leases: a busy worker could take it.
#ifndef HYDRANT_DAEMON_COORDINATOR_WAITING_H_
#define HYDRANT_DAEMON_COORDINATOR_WAITING_H_

#include <optional>

#include "absl/time/time.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/schedule/scheduler.h"

namespace hydrant {

// When something ready counts as waiting.
struct WaitingRule {
  absl::Time now;
  absl::Duration after;
};

Demand DemandOf(const FarmState& state, StepId step);
Demand DemandOf(const CheckEntry& check);

// Why nobody could take it now; nothing when somebody could.
std::optional<Nobody> WhyNobody(const FarmState& state, const Demand& demand);

// Brings what is noted up to date: call it when time passed or a worker's state changed. True, and every evaluation counts as
// changed, when a variant's state may follow.
bool NoteWaiting(FarmState& state, const WaitingRule& rule);

// A noted time that has lasted; null: it does not wait.
const Nobody* WaitingFor(const FarmState& state, StepId step, const WaitingRule& rule);
const Nobody* WaitingFor(const FarmState& state, const CheckEntry& check, const WaitingRule& rule);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_WAITING_H_
