#include "daemon/presence/answer_memory.h"

namespace hydrant {

std::optional<bool> AnswerMemory::Recall(const std::string& path, absl::Time now) const {
  const auto found = known_.find(path);
  if (found == known_.end() || found->second.until <= now) return std::nullopt;
  return found->second.present;
}

void AnswerMemory::Remember(const std::string& path, bool present, absl::Time now) {
  const absl::Time until = now + (present ? options_.present_for : options_.absent_for);
  known_[path] = {present, until, ++last_number_};
  (present ? present_ : absent_).push_back({path, until, last_number_});
  Forget(present_, now);
  Forget(absent_, now);
}

void AnswerMemory::Forget(std::deque<Line>& queue, absl::Time now) {
  while (!queue.empty() && (queue.size() > options_.most || queue.front().until <= now)) {
    const auto found = known_.find(queue.front().path);
    if (found != known_.end() && found->second.number == queue.front().number) known_.erase(found);
    queue.pop_front();
  }
}

}  // namespace hydrant
