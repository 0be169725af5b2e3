// The processes under one process as /proc shows them: how much memory they hold, and an end to those that
// outlive it.
#ifndef HYDRANT_WORKER_BUILD_PROCESS_TREE_H_
#define HYDRANT_WORKER_BUILD_PROCESS_TREE_H_

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "absl/time/time.h"

namespace hydrant::worker {

struct ProcessUse {
  int64_t memory_bytes = 0;  // resident, of the descendants
  absl::Duration cpu;        // of descendants that run and of those that were waited for
};

// Follows the descendants of `root`, without `root` itself. One thread.
class ProcessTree {
 public:
  // Cpu counts from here. root <= 0: there is nothing to follow.
  explicit ProcessTree(pid_t root);

  // Looks again and remembers whom it saw.
  ProcessUse Sample();
  int64_t max_memory_bytes() const { return max_memory_bytes_; }
  absl::Duration cpu() const { return cpu_; }

  // SIGKILL to everyone ever seen who still lives (told apart from a reused number by its start time).
  void KillSurvivors();

 private:
  pid_t root_;
  absl::Duration cpu_at_start_, cpu_;
  int64_t max_memory_bytes_ = 0;
  std::map<pid_t, uint64_t> seen_;  // pid -> start time in ticks
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_PROCESS_TREE_H_
