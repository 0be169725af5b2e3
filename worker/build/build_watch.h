// Watches one running build: silence, time, memory, log size, and a wish to cancel. Ends the session at the
// first of these and says which it was. Any thread.
#ifndef HYDRANT_WORKER_BUILD_BUILD_WATCH_H_
#define HYDRANT_WORKER_BUILD_BUILD_WATCH_H_

#include <cstdint>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "lib/base/mutex.h"
#include "lib/failure/cause.h"
#include "worker/build/limits.h"
#include "worker/build/process_tree.h"
#include "worker/build/store_session.h"

namespace hydrant::worker {

class BuildWatch {
 public:
  BuildWatch(StoreSession& session, const AttemptLimits& limits);
  ~BuildWatch();

  // The builder printed so many bytes. False once the log is over its limit: drop them.
  bool Heard(size_t bytes);
  // Ends the build for this reason, unless it ends for another already.
  void Abort(Cause cause, std::string message);

  struct Report {
    Cause cause = Cause::kNone;  // why the watch ended it; kNone: it did not
    std::string message;
    absl::Duration cpu;
    int64_t max_memory_bytes = 0;
    int64_t log_bytes = 0;
  };
  // Ends the watch, looks a last time, and lets no process of an aborted build live. Once, after the build
  // call returned.
  Report Finish();

 private:
  void Run();
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AbortLocked(Cause cause, std::string message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  StoreSession& session_;
  const AttemptLimits limits_;
  Mutex mu_;
  CondVar changed_;
  ProcessTree tree_ ABSL_GUARDED_BY(mu_);
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool aborting_ ABSL_GUARDED_BY(mu_) = false;
  Report report_ ABSL_GUARDED_BY(mu_);
  absl::Time started_, heard_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_BUILD_WATCH_H_
