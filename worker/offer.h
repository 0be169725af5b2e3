// What this worker gives to the farm: what was configured, else what was measured.
#ifndef HYDRANT_WORKER_OFFER_H_
#define HYDRANT_WORKER_OFFER_H_

#include <string>
#include <vector>

#include "worker/build/worker_store.h"
#include "worker/lease/assignment.h"
#include "worker/probe/machine_probe.h"
#include "worker/worker_options.h"

namespace hydrant::worker {

WorkerOffer MakeOffer(const WorkerOptions& options, const MachineFacts& machine, std::vector<GpuFacts> gpus);

// How builds are set up in the worker's store.
WorkerStore::Options StoreOptions(const WorkerOptions& options, const WorkerOffer& offer,
                                  std::string scratch);

// `hydrant-worker probe`: asks the store and prints; the exit status.
int PrintProbe(const CommandLine& line, const WorkerOptions& options, const WorkerOffer& offer);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_OFFER_H_
