// A few threads that run tasks in the order in which they were added. Knows nothing of what the tasks do.
#ifndef HYDRANT_LIB_NIX_TASK_THREADS_H_
#define HYDRANT_LIB_NIX_TASK_THREADS_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "lib/base/mutex.h"

namespace hydrant::nix {

class TaskThreads {
 public:
  // Fewer where the system has no more to give. Without any a task runs within Add.
  explicit TaskThreads(int threads);
  // Tasks that have not begun are dropped; waits for those that have.
  ~TaskThreads();
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  // Any thread. A task must not throw.
  void Add(std::function<void()> task);

 private:
  void Run();

  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_TASK_THREADS_H_
