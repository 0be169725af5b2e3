// What `hydrant-worker probe` prints: what this worker would offer, and what keeps it from working.
#ifndef HYDRANT_WORKER_PROBE_PROBE_REPORT_H_
#define HYDRANT_WORKER_PROBE_PROBE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/gpu/gpu_probe.h"

namespace hydrant::worker {

struct ProbeReport {
  std::string name;
  std::vector<GpuFacts> gpus;
  int cores = 0;
  int64_t memory_bytes = 0;
  std::vector<std::string> systems, features;
  int slots = 0;
  int64_t free_disk_bytes = 0;  // where the store is
  std::string store, nix_version;
  std::string problem;  // why it could not work; empty: nothing
};

std::string PrintJson(const ProbeReport& report);   // one line
std::string PrintTable(const ProbeReport& report);  // for a person

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PROBE_PROBE_REPORT_H_
