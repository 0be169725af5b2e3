#include "daemon/presence/circuit_breaker.h"

#include <algorithm>

namespace hydrant {

bool CircuitBreaker::Admit(absl::Time now) {
  if (state_ == State::kHalfOpen || Refuses(now)) return false;
  if (state_ == State::kOpen) state_ = State::kHalfOpen;
  return true;
}

void CircuitBreaker::Succeeded() {
  state_ = State::kClosed;
  failures_ = 0;
  pause_ = options_.pause;
}

void CircuitBreaker::Failed(absl::Time now, absl::Duration at_least) {
  ++failures_;
  // What was under way when it opened says nothing new.
  if (state_ == State::kOpen) return;
  if (state_ == State::kHalfOpen) {
    pause_ = std::min(2 * pause_, options_.longest_pause);
    Open(now, at_least);
  } else if (failures_ >= options_.failures_to_open) {
    Open(now, at_least);
  }
}

void CircuitBreaker::Open(absl::Time now, absl::Duration at_least) {
  state_ = State::kOpen;
  until_ = now + std::max(pause_, std::min(at_least, options_.longest_pause));
}

}  // namespace hydrant
