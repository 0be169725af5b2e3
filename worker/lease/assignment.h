// What hydrantd gives a worker to do, and what the worker says of it, as plain values. Knows nothing of how
// they travel.
#ifndef HYDRANT_WORKER_LEASE_ASSIGNMENT_H_
#define HYDRANT_WORKER_LEASE_ASSIGNMENT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "lib/failure/cause.h"
#include "lib/gpu/gpu_probe.h"
#include "worker/build/limits.h"

namespace hydrant::worker {

struct AttemptId {
  int64_t value = 0;
  friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
};

struct LeaseToken {
  int64_t value = 0;
  friend auto operator<=>(const LeaseToken&, const LeaseToken&) = default;
};

struct Substituter {
  std::string url;
  std::vector<std::string> public_keys;
};

// What a worker must know of the farm.
struct FarmFacts {
  std::string cache_url;
  std::string staged_public_key;
  std::vector<Substituter> substituters;
};

struct StepWork {
  std::string derivation_path, aterm;
  std::vector<std::string> input_paths;
  bool needs_derivation_closure = false;
  AttemptLimits limits;
};

struct CheckWork {
  std::string name, output_path, environment_path;
  std::vector<std::string> command;
  bool gpu = false;
  AttemptLimits limits;
};

struct Assignment {
  AttemptId attempt;
  LeaseToken token;
  std::string gpu_uuid;  // empty: none
  std::variant<StepWork, CheckWork> work;
  FarmFacts farm;
};

// Only forward. Drawn in daemon/README.md.
enum class AttemptStage { kLeased = 1, kFetching = 2, kBuilding = 3, kPushing = 4 };

// cause kNone: success.
struct AttemptEnd {
  Cause cause = Cause::kNone;
  std::string message;
  int nix_status = -1;
  absl::Duration fetching, building, pushing;
  absl::Duration cpu;
  int64_t max_memory_bytes = 0;
  int64_t log_bytes = 0;
  std::optional<GpuFacts> gpu;  // of a check that had one
};

// What the worker can take. `slots`: attempts that fetch or build at once.
struct WorkerOffer {
  std::vector<std::string> systems, features;
  int cores = 0;
  int64_t memory_bytes = 0;
  int slots = 1;
  std::vector<GpuFacts> gpus;
  std::string version, nix_version;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_ASSIGNMENT_H_
