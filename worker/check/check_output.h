// Reads a sandboxed command to its end and ends it when a limit says so.
#ifndef HYDRANT_WORKER_CHECK_CHECK_OUTPUT_H_
#define HYDRANT_WORKER_CHECK_CHECK_OUTPUT_H_

#include <string>

#include "worker/build/process_tree.h"
#include "worker/check/check_runner.h"
#include "worker/check/sandbox.h"

namespace hydrant::worker {

class CheckOutput {
 public:
  CheckOutput(SandboxedProcess& process, const AttemptLimits& limits, absl::Duration grace,
              Cancellation& cancellation);

  // Until the end of the output, which nobody in the sandbox outlives.
  void Follow(const LogCallback& log);

  Cause cause() const { return cause_; }  // why it was ended; kNone: it was not
  const std::string& message() const { return message_; }
  const std::string& tail() const { return tail_; }
  int64_t log_bytes() const { return log_bytes_; }
  int64_t max_memory_bytes() const { return tree_.max_memory_bytes(); }

 private:
  bool ReadSome(const LogCallback& log);  // false at the end
  void CheckLimits();
  void End(Cause cause, std::string message);

  SandboxedProcess& process_;
  const AttemptLimits& limits_;
  const absl::Duration grace_;
  Cancellation& cancellation_;
  ProcessTree tree_;
  absl::Time started_, heard_, sampled_;
  absl::Time kill_at_ = absl::InfiniteFuture();
  Cause cause_ = Cause::kNone;
  std::string message_, tail_;
  int64_t log_bytes_ = 0;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_CHECK_CHECK_OUTPUT_H_
