#include "worker/build/cancellation.h"

#include <utility>

#include "absl/time/clock.h"

namespace hydrant::worker {

void Cancellation::Cancel() {
  MutexLock lock(mu_);
  if (std::exchange(cancelled_, true)) return;
  // Under the lock: so a hook's destructor waits for its action.
  for (const auto& [id, action] : actions_) action();
  changed_.NotifyAll();
}

bool Cancellation::cancelled() const {
  MutexLock lock(mu_);
  return cancelled_;
}

bool Cancellation::WaitFor(absl::Duration duration) {
  const absl::Time until = absl::Now() + duration;
  MutexLock lock(mu_);
  while (!cancelled_) {
    const absl::Duration left = until - absl::Now();
    if (left <= absl::ZeroDuration()) return true;
    changed_.WaitFor(mu_, std::min(left, absl::Hours(1)));
  }
  return false;
}

Cancellation::Hook::Hook(Cancellation& cancellation, std::function<void()> action)
    : cancellation_(cancellation) {
  MutexLock lock(cancellation_.mu_);
  if (cancellation_.cancelled_) {
    action();
    return;
  }
  id_ = cancellation_.next_id_++;
  cancellation_.actions_.emplace(id_, std::move(action));
}

Cancellation::Hook::~Hook() {
  MutexLock lock(cancellation_.mu_);
  cancellation_.actions_.erase(id_);
}

}  // namespace hydrant::worker
