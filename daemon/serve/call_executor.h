// The threads that answer calls: gRPC's own must never block. Bounded: beyond its queue a call is refused at once.
#ifndef HYDRANT_DAEMON_SERVE_CALL_EXECUTOR_H_
#define HYDRANT_DAEMON_SERVE_CALL_EXECUTOR_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "lib/base/mutex.h"

namespace hydrant {

class CallExecutor {
 public:
  CallExecutor(int threads, size_t queue);
  ~CallExecutor();  // runs what is queued, then ends
  // False when the queue is full. Any thread.
  bool Post(std::function<void()> call);

 private:
  void Loop();
  const size_t queue_;
  Mutex mu_;
  CondVar posted_;
  std::deque<std::function<void()>> calls_ ABSL_GUARDED_BY(mu_);
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_CALL_EXECUTOR_H_
