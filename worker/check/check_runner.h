// Runs one check's command against an output. Knows nothing of leases, caches or how the output came here.
#ifndef HYDRANT_WORKER_CHECK_CHECK_RUNNER_H_
#define HYDRANT_WORKER_CHECK_CHECK_RUNNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/failure/cause.h"
#include "lib/gpu/gpu_probe.h"
#include "worker/build/builder.h"
#include "worker/build/cancellation.h"
#include "worker/build/limits.h"

namespace hydrant::worker {

struct CheckRequest {
  std::string name;
  std::string output_path;       // store path, valid with its closure
  std::string environment_path;  // as well; empty: the output's own bin/
  std::vector<std::string> command;
  std::optional<GpuFacts> gpu;  // the leased one; none: the command sees no GPU
  AttemptLimits limits;
};

// cause kNone: the command exited 0. kTransient: it could not be run at all.
struct CheckOutcome {
  Cause cause = Cause::kNone;
  std::string message;
  absl::Duration cpu;
  int64_t max_memory_bytes = 0;
  int64_t log_bytes = 0;
};

class CheckRunner {
 public:
  virtual ~CheckRunner() = default;
  // Blocks until the command and all that it started have ended. `log` is called in this thread.
  virtual CheckOutcome Run(const CheckRequest& request, const LogCallback& log,
                           Cancellation& cancellation) = 0;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_CHECK_CHECK_RUNNER_H_
