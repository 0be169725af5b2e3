#include "daemon/coordinator/evaluation_turn.h"

#include "absl/time/time.h"

namespace hydrant {
namespace {

constexpr absl::Duration kLookForCancellation = absl::Milliseconds(200);

}  // namespace

EvaluationTurn::Held::Held(EvaluationTurn& turn, const Place& place, const std::atomic<bool>& cancelled)
    : turn_(turn), came_(turn.Take(place, cancelled)) {}

EvaluationTurn::Held::~Held() {
  if (came_) turn_.Give();
}

size_t EvaluationTurn::waiting() const {
  MutexLock lock(mu_);
  return waiting_.size();
}

bool EvaluationTurn::Take(const Place& place, const std::atomic<bool>& cancelled) {
  MutexLock lock(mu_);
  const auto mine = waiting_.insert(place).first;
  while (!cancelled && (taken_ || waiting_.begin() != mine)) changed_.WaitFor(mu_, kLookForCancellation);
  const bool came = !cancelled;
  taken_ = taken_ || came;
  waiting_.erase(mine);
  if (!came) changed_.NotifyAll();  // it may have stood before others
  return came;
}

void EvaluationTurn::Give() {
  MutexLock lock(mu_);
  taken_ = false;
  changed_.NotifyAll();
}

}  // namespace hydrant
