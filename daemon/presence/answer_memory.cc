#include "daemon/presence/answer_memory.h"

namespace hydrant {

std::optional<AnswerMemory::Known> AnswerMemory::Recall(const std::string& path, absl::Time now) const {
  const auto found = known_.find(path);
  if (found == known_.end() || found->second.until <= now) return std::nullopt;
  return found->second.known;
}

void AnswerMemory::Remember(const std::string& path, Known known, absl::Time now) {
  const absl::Time until = now + (known.present ? options_.present_for : options_.absent_for);
  known_[path] = {known, until, ++last_number_};
  (known.present ? present_ : absent_).push_back({path, until, last_number_});
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
