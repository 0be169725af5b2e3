// What the farm has to do already: attempts that run, and steps and checks that wait for their turn. Pure.
#ifndef HYDRANT_DAEMON_COORDINATOR_BACKLOG_H_
#define HYDRANT_DAEMON_COORDINATOR_BACKLOG_H_

#include <vector>

#include "absl/time/time.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/schedule/forecast.h"

namespace hydrant {

// Attempts that take a slot with what history leaves of them, then what an open evaluation wants and is not final.
std::vector<Backlog> BacklogOf(const FarmState& state, absl::Time now);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_BACKLOG_H_
