// Which ready work goes to which free worker. Pure: looks at values, decides, changes nothing. Waiting is not a failure: what
// no worker can take stays ready, and says why.
#ifndef HYDRANT_DAEMON_SCHEDULE_SCHEDULER_H_
#define HYDRANT_DAEMON_SCHEDULE_SCHEDULER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/lease/worker_offer.h"

namespace hydrant {

// What a piece of work asks of a worker.
struct Demand {
  std::string system;              // empty or "builtin": any
  std::set<std::string> features;  // requiredSystemFeatures; "cuda" (and gpu, nvidia-gpu, opengl) needs a GPU of its own
  bool gpu = false;
  std::string gpu_architecture;    // "8.6"; empty: any
  std::set<std::string> avoid;     // workers that failed it lately; taken only when no other could
};

struct ReadyWork {
  uint64_t key = 0;               // the caller's
  Demand demand;
  int priority = 0;               // larger is sooner
  absl::Duration remaining;       // longest path from here to the end of what wants it, this work included
  absl::Time ready_since;
};

struct FreeWorker {
  std::string name;
  WorkerOffer offer;
  int free_slots = 0;
  std::set<std::string> busy_gpus;  // uuids
};

struct Placement {
  uint64_t key = 0;
  std::string worker;
  std::string gpu_uuid;  // empty: none
};

// The first rule that the worker fails, as a person would say it ("offers no feature kvm"), whatever its load; "" when it
// could take the work if it were free. A feature that means a GPU ("cuda") must be offered by name
// too: not every machine lets a build reach its GPUs.
std::string WhyNot(const Demand& demand, const WorkerOffer& offer);

// By `gpu`, by an architecture or by a feature that means one.
bool NeedsGpu(const Demand& demand);

// How much of such work it could run at once: its slots, and of what needs a GPU one a GPU that suits; 0 where WhyNot objects.
int PlacesFor(const Demand& demand, const WorkerOffer& offer);

// Priority, then longest remaining path, then oldest, first; each to the worker that fits with least waste: work without a
// GPU goes to workers without GPUs before it takes a slot there. At most one lease a slot, one a GPU. Busy workers belong into
// `workers` too, with no free slot: work that another worker failed lately waits for them rather than go back there.
std::vector<Placement> Place(std::vector<ReadyWork> ready, std::vector<FreeWorker> workers);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SCHEDULE_SCHEDULER_H_
