// What some work would cost, and how long the workers that are there would take for it, idle as well as after
// what they have to do already: from history, without the work that was never done here, which is counted
// beside. Pure.
#ifndef HYDRANT_DAEMON_SCHEDULE_FORECAST_H_
#define HYDRANT_DAEMON_SCHEDULE_FORECAST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/lease/worker_offer.h"
#include "daemon/schedule/estimate.h"
#include "daemon/schedule/scheduler.h"

namespace hydrant {

struct Workload {
  struct Step {
    std::string derivation, name;
    Demand demand;
    std::vector<size_t> inputs;  // places in `steps`, each before its own
  };
  struct Check {
    std::string name;     // of the check in its matrix
    std::string package;  // name and version of what it checks
    Demand demand;
    std::vector<size_t> after;  // places in `steps`
  };
  std::vector<Step> steps;
  std::vector<Check> checks;
};

// What the workers have, or would be given, besides: an attempt that runs, or work that waits.
struct Backlog {
  std::string id;  // .drv path or key of a check
  Demand demand;
  bool running = false;
  std::optional<absl::Duration> time;  // what is left of it; nothing: its like never ran here
  absl::Duration core_time;
};

struct Forecast {
  int64_t steps = 0, checks = 0;  // all, known or not
  // Sums over what is known.
  absl::Duration
      core_time;  // CPU of steps and checks; of a step whose CPU nobody measured its time on one core
  absl::Duration gpu_time;  // of checks and steps that need a GPU: each has one for itself
  int64_t bytes = 0;        // NARs of the outputs of steps
  // What no history tells, and what those sums are therefore without.
  int64_t unknown_steps = 0, unknown_checks = 0;
  int64_t unknown_bytes = 0;   // steps, unknown ones included, whose outputs' size is not known
  int64_t unmeasured_cpu = 0;  // known steps that count as one core

  // Wall time. No schedule is shorter than the longer of
  //   path:        the longest chain of steps, each an input of the next, and a check behind it;
  //   throughput:  the largest, over the kinds of work (same system, features, GPU), of time / places that
  //   could take it,
  //                over all work of time / slots, and of core_time / cores;
  // and one that never leaves a place free for which there is work takes, on workers that are alike, at most
  // their sum. Source: R. L. Graham, Bounds for certain multiprocessing anomalies, Bell System Technical
  // Journal 45 (1966).
  // At least: were the workers idle. At most: after the whole backlog, which the throughput of the bound then
  // has too.
  absl::Duration path, throughput, at_least, at_most;
  int64_t unplaceable = 0;  // steps and checks that no worker could take: the wall time is without them
  int workers = 0, slots = 0, cores = 0, gpus = 0;
  int64_t running = 0, waiting = 0;  // of the backlog
  int64_t unknown_backlog = 0;       // of those: at_most is without them

  struct Heavy {
    std::string derivation, name;
    absl::Duration building, core_time;
  };
  std::vector<Heavy> longest;  // of the known steps the five that build longest
};

Forecast MakeForecast(const Workload& work, const Estimate& history, const std::vector<WorkerOffer>& workers,
                      const std::vector<Backlog>& backlog = {});

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SCHEDULE_FORECAST_H_
