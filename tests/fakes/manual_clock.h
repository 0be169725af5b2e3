// A Clock that goes on only when it is told to.
#ifndef HYDRANT_TESTS_FAKES_MANUAL_CLOCK_H_
#define HYDRANT_TESTS_FAKES_MANUAL_CLOCK_H_

#include "absl/time/time.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace hydrant {

class ManualClock final : public Clock {
 public:
  absl::Time Now() const override {
    MutexLock lock(mu_);
    return now_;
  }
  void Advance(absl::Duration by) {
    MutexLock lock(mu_);
    now_ += by;
  }

 private:
  mutable Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_) = absl::FromUnixSeconds(1'700'000'000);
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_MANUAL_CLOCK_H_
