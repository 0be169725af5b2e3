// Time as an argument: what needs the time takes a Clock. Knows nothing of timers; what is due is done on entry.
#ifndef HYDRANT_LIB_BASE_CLOCK_H_
#define HYDRANT_LIB_BASE_CLOCK_H_

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hydrant {

class Clock {
 public:
  virtual ~Clock() = default;
  // Never goes back within one process. Any thread.
  virtual absl::Time Now() const = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_CLOCK_H_
