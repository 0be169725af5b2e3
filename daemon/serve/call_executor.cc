#include "daemon/serve/call_executor.h"

#include <utility>

namespace hydrant {

CallExecutor::CallExecutor(int threads, size_t queue) : queue_(queue) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

CallExecutor::~CallExecutor() {
  {
    MutexLock lock(mu_);
    stop_ = true;
    posted_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool CallExecutor::Post(std::function<void()> call) {
  MutexLock lock(mu_);
  if (calls_.size() >= queue_ || stop_) return false;
  calls_.push_back(std::move(call));
  posted_.NotifyOne();
  return true;
}

void CallExecutor::Loop() {
  while (true) {
    std::function<void()> call;
    {
      MutexLock lock(mu_);
      while (calls_.empty() && !stop_) posted_.Wait(mu_);
      if (calls_.empty()) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    call();
  }
}

}  // namespace hydrant
