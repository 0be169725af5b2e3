#include "daemon/evaluate/outcome_batcher.h"

#include <utility>

#include "absl/time/clock.h"

namespace hydrant {
namespace {

constexpr size_t kMost = 64;
constexpr absl::Duration kLongest = absl::Milliseconds(50);

}  // namespace

bool OutcomeBatcher::Due() const {
  return waiting_.size() >= kMost || (!waiting_.empty() && absl::Now() - first_ >= kLongest);
}

void OutcomeBatcher::Add(Outcome outcome) {
  {
    MutexLock lock(mu_);
    if (waiting_.empty()) first_ = absl::Now();
    waiting_.push_back(std::move(outcome));
    if (!Due()) return;
  }
  Flush();
}

void OutcomeBatcher::FlushIfDue() {
  {
    MutexLock lock(mu_);
    if (!Due()) return;
  }
  Flush();
}

void OutcomeBatcher::Flush() {
  MutexLock one_at_a_time(take_mu_);
  std::vector<Outcome> outcomes;
  {
    MutexLock lock(mu_);
    outcomes.swap(waiting_);
  }
  if (!outcomes.empty()) take_(std::move(outcomes));
}

}  // namespace hydrant
