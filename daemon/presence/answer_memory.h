// What one cache said of store paths, for as long as that may be believed: bounded, the oldest forgotten
// first. Knows nothing of HTTP.
#ifndef HYDRANT_DAEMON_PRESENCE_ANSWER_MEMORY_H_
#define HYDRANT_DAEMON_PRESENCE_ANSWER_MEMORY_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace hydrant {

class AnswerMemory {
 public:
  struct Options {
    absl::Duration present_for = absl::Hours(1);
    absl::Duration absent_for = absl::Seconds(60);
    size_t most = 200'000;  // paths of each kind; about 200 bytes a path
  };
  struct Known {
    bool present = false;
    uint64_t file_size = 0;  // of present: bytes to fetch; 0: not known
    friend bool operator==(const Known&, const Known&) = default;
  };

  explicit AnswerMemory(const Options& options) : options_(options) {}

  // Nothing when it is not known, or not any more.
  std::optional<Known> Recall(const std::string& path, absl::Time now) const;
  // `now` never goes back.
  void Remember(const std::string& path, Known known, absl::Time now);
  size_t size() const { return known_.size(); }

 private:
  struct Entry {
    Known known;
    absl::Time until;
    uint64_t number = 0;  // an older line of a queue is of an answer that was replaced
  };
  struct Line {
    std::string path;
    absl::Time until;
    uint64_t number = 0;
  };
  void Forget(std::deque<Line>& queue, absl::Time now);

  const Options options_;
  uint64_t last_number_ = 0;
  absl::flat_hash_map<std::string, Entry> known_;
  std::deque<Line> present_, absent_;  // each in the order in which it ends
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_ANSWER_MEMORY_H_
