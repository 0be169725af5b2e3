// What an attempt must not lose when the program ends: its assignment, its log, and its end once the work is
// done. A folder of small files a worker; knows nothing of what the bytes mean.
#ifndef HYDRANT_WORKER_LEASE_ATTEMPT_SPOOL_H_
#define HYDRANT_WORKER_LEASE_ATTEMPT_SPOOL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"
#include "worker/lease/assignment.h"

namespace hydrant::worker {

// The log of one attempt. Any thread.
class SpooledLog {
 public:
  static absl::StatusOr<std::unique_ptr<SpooledLog>> Open(const std::string& file);
  absl::Status Append(std::string_view bytes);
  // At most `most` bytes from `offset` on.
  absl::StatusOr<std::string> Read(int64_t offset, size_t most) const;
  absl::StatusOr<int64_t> Size() const;

 private:
  SpooledLog(UniqueFd fd, std::string file) : fd_(std::move(fd)), file_(std::move(file)) {}
  UniqueFd fd_;
  std::string file_;
};

class AttemptSpool {
 public:
  struct Kept {
    AttemptId attempt;
    std::string assignment, end;
  };
  // Makes the folder. Forgets attempts that were not done: they are lost with the program that ran them.
  static absl::StatusOr<std::unique_ptr<AttemptSpool>> Open(std::string folder);

  // Those that were done and whose end nobody has heard.
  absl::StatusOr<std::vector<Kept>> Load() const;
  absl::StatusOr<std::unique_ptr<SpooledLog>> OpenLog(AttemptId attempt) const;
  // Atomic; replaces an earlier one.
  absl::Status Keep(const Kept& kept) const;
  void Forget(AttemptId attempt) const;

 private:
  explicit AttemptSpool(std::string folder) : folder_(std::move(folder)) {}
  std::string File(AttemptId attempt, std::string_view suffix) const;
  absl::StatusOr<std::vector<AttemptId>> WithSuffix(std::string_view suffix) const;
  const std::string folder_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_ATTEMPT_SPOOL_H_
