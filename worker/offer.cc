#include "worker/offer.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "worker/probe/probe_report.h"

namespace hydrant::worker {

WorkerOffer MakeOffer(const WorkerOptions& options, const MachineFacts& machine, std::vector<GpuFacts> gpus) {
  WorkerOffer offer{.systems = options.systems, .features = options.features};
  if (offer.systems.empty()) offer.systems = {machine.system};
  if (offer.features.empty()) {
    offer.features = machine.features;
    if (!gpus.empty()) offer.features.push_back("cuda");
  }
  std::sort(offer.features.begin(), offer.features.end());
  offer.cores = options.cores > 0 ? options.cores : machine.cores;
  offer.memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : machine.memory_bytes;
  offer.slots = options.slots > 0 ? options.slots : std::max(1, offer.cores / 2);
  offer.gpus = std::move(gpus);
  offer.version = HYDRANT_VERSION;
  return offer;
}

WorkerStore::Options StoreOptions(const WorkerOptions& options, const WorkerOffer& offer,
                                  std::string scratch) {
  return {.store = options.store,
          .sandbox_paths = options.sandbox_paths,
          .features = offer.features,
          .systems = offer.systems,
          .build_cores = std::max(1, offer.cores / offer.slots),
          .scratch = std::move(scratch)};
}

int PrintProbe(const CommandLine& line, const WorkerOptions& options, const WorkerOffer& offer) {
  ProbeReport report{
      .name = options.name,
      .gpus = offer.gpus,
      .cores = offer.cores,
      .memory_bytes = offer.memory_bytes,
      .systems = offer.systems,
      .features = offer.features,
      .slots = offer.slots,
      .free_disk_bytes = FreeDiskBytes(options.store == "daemon" ? "/nix/store" : options.store),
      .store = options.store};
  const auto nix = WorkerStore(StoreOptions(options, offer, "/nonexistent")).CheckTrust();
  if (nix.ok()) {
    report.nix_version = *nix;
  } else {
    report.problem = std::string(nix.status().message());
  }
  std::fputs((line.json ? PrintJson(report) : PrintTable(report)).c_str(), stdout);
  return report.problem.empty() ? 0 : 1;
}

}  // namespace hydrant::worker
