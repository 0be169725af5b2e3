#include "lib/rpc/retry.h"

#include <random>

namespace hydrant::rpc {

bool SleepFor(absl::Duration duration) {
  absl::SleepFor(duration);
  return true;
}

bool Outage::WaitToRetry(const absl::Status& status, const Pause& pause) {
  if (!absl::IsUnavailable(status)) return false;
  const absl::Time now = clock_.Now();
  if (failures_++ == 0) since_ = now;
  const absl::Duration left = since_ + options_.give_up_after - now;
  if (left <= absl::ZeroDuration()) return false;
  thread_local std::mt19937 random{std::random_device{}()};
  return pause(std::min(left, options_.backoff.Delay(failures_, random)));
}

absl::Status RetryUnavailable(const RetryOptions& options, const Clock& clock, const Pause& pause,
                              const std::function<absl::Status()>& call) {
  Outage outage(options, clock);
  for (;;) {
    absl::Status status = call();
    if (status.ok() || !outage.WaitToRetry(status, pause)) return status;
  }
}

}  // namespace hydrant::rpc
