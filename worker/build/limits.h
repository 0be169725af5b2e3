// Bounds of one attempt, whatever it does. Zero: no bound.
#ifndef HYDRANT_WORKER_BUILD_LIMITS_H_
#define HYDRANT_WORKER_BUILD_LIMITS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace hydrant::worker {

struct AttemptLimits {
  absl::Duration timeout;     // of builder or check, from start to end
  absl::Duration max_silent;  // without a line of log
  int64_t max_log_bytes = 0;
  int64_t max_output_bytes = 0;  // of all outputs' NARs
  int64_t memory_bytes = 0;      // resident, of the whole process tree
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_LIMITS_H_
