#include "lib/nix/task_threads.h"

#include <system_error>
#include <utility>

namespace hydrant::nix {

TaskThreads::TaskThreads(int threads) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  } catch (const std::system_error&) {
    // no more to be had: those that run are enough
  }
}

TaskThreads::~TaskThreads() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void TaskThreads::Add(std::function<void()> task) {
  if (threads_.empty()) return task();
  {
    MutexLock lock(mu_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
}

void TaskThreads::Run() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mu_);
      while (tasks_.empty() && !stopping_) changed_.Wait(mu_);
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace hydrant::nix
