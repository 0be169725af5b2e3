// The logs of attempts, a file each, appended at an offset: a repeated chunk changes nothing, a gap is refused.
#ifndef HYDRANT_DAEMON_COORDINATOR_ATTEMPT_LOG_H_
#define HYDRANT_DAEMON_COORDINATOR_ATTEMPT_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/graph/ids.h"

namespace hydrant {

class AttemptLog {
 public:
  // Files lie under `directory`, which is made.
  static absl::StatusOr<AttemptLog> Open(std::string directory);

  // Bytes kept afterwards. OutOfRange names where to go on; ResourceExhausted beyond `limit` bytes or when the disk is full.
  // One caller an attempt at a time; different attempts from any thread.
  absl::StatusOr<int64_t> Append(AttemptId attempt, int64_t offset, std::string_view data, int64_t limit);
  // At most `size` bytes from `offset`; empty at the end, or when there is no log.
  absl::StatusOr<std::string> Read(AttemptId attempt, int64_t offset, size_t size) const;
  std::string PathOf(AttemptId attempt) const;

 private:
  explicit AttemptLog(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_ATTEMPT_LOG_H_
