// Waits for signals in a thread and says what they mean: the first drain signal drains; any later one, or
// another, gives back.
#ifndef HYDRANT_WORKER_SIGNAL_WATCH_H_
#define HYDRANT_WORKER_SIGNAL_WATCH_H_

#include <signal.h>

#include <functional>
#include <string>
#include <thread>

namespace hydrant::worker {

class SignalWatch {
 public:
  // First thing in main, before any thread is: SIGTERM, SIGINT and SIGUSR1 wait from now on, SIGPIPE is
  // ignored.
  static void Block();

  // `drain_on`: "SIGTERM", "SIGINT", "SIGUSR1" or "none".
  SignalWatch(const std::string& drain_on, std::function<void()> drain, std::function<void()> give_back);
  ~SignalWatch();

 private:
  void Run();
  const int drain_signal_;
  const std::function<void()> drain_, give_back_;
  std::thread thread_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_SIGNAL_WATCH_H_
