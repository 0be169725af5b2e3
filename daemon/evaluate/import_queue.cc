#include "daemon/evaluate/import_queue.h"

#include <algorithm>
#include <numeric>

namespace hydrant {

ImportQueue::ImportQueue(const std::vector<size_t>& weights, size_t workers)
    : waiting_(std::max<size_t>(workers, 1)) {
  std::vector<size_t> order(weights.size()), load(waiting_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  for (const size_t import : order) {
    const size_t worker = std::min_element(load.begin(), load.end()) - load.begin();
    waiting_[worker].push_back(import);
    load[worker] += weights[import];
  }
}

std::vector<size_t> ImportQueue::Take(size_t worker, size_t most) {
  MutexLock lock(mu_);
  if (waiting_[worker].empty()) Steal(worker);
  std::deque<size_t>& mine = waiting_[worker];
  std::vector<size_t> taken(mine.begin(), mine.begin() + std::min(most, mine.size()));
  if (!mine.empty()) mine.pop_front();
  return taken;
}

bool ImportQueue::Begin(size_t worker, size_t import) {
  MutexLock lock(mu_);
  if (waiting_[worker].empty() || waiting_[worker].front() != import) return false;
  waiting_[worker].pop_front();
  return true;
}

void ImportQueue::Steal(size_t worker) {
  const auto richest = std::max_element(waiting_.begin(), waiting_.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (size_t left = (richest->size() + 1) / 2; left > 0; --left) {
    waiting_[worker].push_front(richest->back());
    richest->pop_back();
  }
}

}  // namespace hydrant
