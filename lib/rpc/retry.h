// Repeats a call while its server is away. Knows no service and no protocol; the waiting is the caller's, so
// that tests and cancelling need no time.
#ifndef HYDRANT_LIB_RPC_RETRY_H_
#define HYDRANT_LIB_RPC_RETRY_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "lib/base/backoff.h"
#include "lib/base/clock.h"

namespace hydrant::rpc {

struct RetryOptions {
  Backoff backoff;
  absl::Duration give_up_after = absl::Minutes(10);  // since the first failure of a row
};

// Waits that long; false when the caller should stop at once instead (it is being ended).
using Pause = std::function<bool(absl::Duration)>;

// Blocks for that long; never stops early.
bool SleepFor(absl::Duration duration);

// How long the server has been away and what to wait for. A value for one conversation; one thread at a time.
class Outage {
 public:
  Outage(RetryOptions options, const Clock& clock) : options_(options), clock_(clock) {}

  // The server answered: the next failure begins a new row.
  void Over() { failures_ = 0; }
  // True: it waited, try again. False: `status` is not UNAVAILABLE, the time is up, or `pause` was told to
  // stop.
  bool WaitToRetry(const absl::Status& status, const Pause& pause);
  int failures() const { return failures_; }

 private:
  RetryOptions options_;
  const Clock& clock_;
  int failures_ = 0;
  absl::Time since_;
};

// Calls until the answer is not UNAVAILABLE; the last answer when the time is up. `call` must be safe to
// repeat.
absl::Status RetryUnavailable(const RetryOptions& options, const Clock& clock, const Pause& pause,
                              const std::function<absl::Status()>& call);

}  // namespace hydrant::rpc

#endif  // HYDRANT_LIB_RPC_RETRY_H_
