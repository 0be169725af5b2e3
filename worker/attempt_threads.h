// AttemptRunner with a thread an attempt.
#ifndef HYDRANT_WORKER_ATTEMPT_THREADS_H_
#define HYDRANT_WORKER_ATTEMPT_THREADS_H_

#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "lib/base/mutex.h"
#include "worker/attempt.h"
#include "worker/lease/attempt_runner.h"

namespace hydrant::worker {

class AttemptThreads final : public AttemptRunner {
 public:
  explicit AttemptThreads(AttemptTools tools) : tools_(std::move(tools)) {}
  ~AttemptThreads() override { Join(); }

  void Start(Assignment assignment, std::optional<AttemptEnd> built,
             std::shared_ptr<AttemptReport> report) override;
  void Stop(AttemptId attempt, StopReason reason) override;
  // Waits for all; their reports must be dropped, finished or abandoned.
  void Join();

 private:
  struct Running {
    AttemptId id;
    Attempt* attempt = nullptr;  // owned by the thread; null once it ended
    std::thread thread;
  };
  void Run(std::list<Running>::iterator self, std::unique_ptr<Attempt> attempt,
           std::optional<AttemptEnd> built);
  void ReapEnded();

  const AttemptTools tools_;
  Mutex mu_;
  std::list<Running> running_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_ATTEMPT_THREADS_H_
