// What this machine is, measured: cores, memory, Nix system, what a build can rely on, room on the disk.
#ifndef HYDRANT_WORKER_PROBE_MACHINE_PROBE_H_
#define HYDRANT_WORKER_PROBE_MACHINE_PROBE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hydrant::worker {

struct MachineFacts {
  int cores = 1;  // that this process may use
  int64_t memory_bytes = 0;
  std::string system;                 // "x86_64-linux"
  std::vector<std::string> features;  // of requiredSystemFeatures, without those of GPUs; sorted
};

MachineFacts ProbeMachine();

// Bytes that may be written under `path`, or under the nearest folder above it that exists; 0: not known.
int64_t FreeDiskBytes(std::string path);

// This machine's name as a worker's: lower case, what is not allowed becomes "-", at most 63 characters;
// never empty.
std::string HostName();

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PROBE_MACHINE_PROBE_H_
