// A request to stop that reaches whoever waits. Knows nothing of why. Any thread.
#ifndef HYDRANT_WORKER_BUILD_CANCELLATION_H_
#define HYDRANT_WORKER_BUILD_CANCELLATION_H_

#include <functional>
#include <map>

#include "absl/time/time.h"
#include "lib/base/mutex.h"

namespace hydrant::worker {

class Cancellation {
 public:
  void Cancel();  // again: nothing
  bool cancelled() const;
  // Waits; false as soon as it is cancelled.
  bool WaitFor(absl::Duration duration);

  // While it lives, Cancel() runs `action` once in its own thread; at once when it was cancelled before. The
  // destructor waits for an action that runs. The action must not create or destroy a hook.
  class Hook {
   public:
    Hook(Cancellation& cancellation, std::function<void()> action);
    ~Hook();
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

   private:
    Cancellation& cancellation_;
    int id_ = 0;
  };

 private:
  mutable Mutex mu_;
  CondVar changed_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  int next_id_ ABSL_GUARDED_BY(mu_) = 1;
  std::map<int, std::function<void()>> actions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_CANCELLATION_H_
