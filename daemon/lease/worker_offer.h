// What a worker offers, as values. Knows nothing of how it was told.
#ifndef HYDRANT_DAEMON_LEASE_WORKER_OFFER_H_
#define HYDRANT_DAEMON_LEASE_WORKER_OFFER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace hydrant {

struct OfferedGpu {
  std::string uuid, name;
  std::string architecture;  // compute capability, "8.6"
  int64_t memory_bytes = 0;
  std::string driver;
  bool simulated = false;
  friend bool operator==(const OfferedGpu&, const OfferedGpu&) = default;
};

struct WorkerOffer {
  std::set<std::string> systems, features;
  int cores = 0;
  int64_t memory_bytes = 0;
  int slots = 1;
  std::vector<OfferedGpu> gpus;
  std::string version, nix_version;
  friend bool operator==(const WorkerOffer&, const WorkerOffer&) = default;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_LEASE_WORKER_OFFER_H_
