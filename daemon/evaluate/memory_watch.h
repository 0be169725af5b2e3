// One budget of memory for several processes: looks at them every 200 ms and, above it, names the largest as
// the one to end. Thread-safe. Source of the rule: nix-eval-jobs' limit of each process alone lets their sum
// overshoot.
#ifndef HYDRANT_DAEMON_EVALUATE_MEMORY_WATCH_H_
#define HYDRANT_DAEMON_EVALUATE_MEMORY_WATCH_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "lib/base/mutex.h"

namespace hydrant {

class MemoryWatch {
 public:
  // One process that is watched while this lives.
  struct Seat {
    explicit Seat(pid_t process) : pid(process) {}
    const pid_t pid;
    std::atomic<uint64_t> peak{0};    // bytes, resident and swapped
    std::atomic<bool> chosen{false};  // it has to end
  };

  explicit MemoryWatch(uint64_t budget);  // bytes; 0: none
  ~MemoryWatch();

  std::shared_ptr<Seat> Watch(pid_t pid) ABSL_LOCKS_EXCLUDED(mu_);
  uint64_t budget() const { return budget_; }

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mu_);
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint64_t budget_;
  Mutex mu_;
  CondVar woken_;
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::weak_ptr<Seat>> seats_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

// Resident and swapped bytes of a process; 0 when there is none.
uint64_t MemoryOf(pid_t pid);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_MEMORY_WATCH_H_
