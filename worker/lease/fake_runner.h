// For tests: an AttemptRunner whose attempts do what the test says, each in a thread of its own.
#ifndef HYDRANT_WORKER_LEASE_FAKE_RUNNER_H_
#define HYDRANT_WORKER_LEASE_FAKE_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/mutex.h"
#include "worker/lease/attempt_runner.h"

namespace hydrant::worker {

class FakeRunner final : public AttemptRunner {
 public:
  using Body = std::function<void(const Assignment&, const std::optional<AttemptEnd>& built, AttemptReport&)>;
  explicit FakeRunner(Body body) : body_(std::move(body)) {}
  ~FakeRunner() override { Join(); }

  void Start(Assignment assignment, std::optional<AttemptEnd> built,
             std::shared_ptr<AttemptReport> report) override {
    MutexLock lock(mu_);
    ++started_[assignment.attempt.value];
    threads_.emplace_back([this, assignment = std::move(assignment), built = std::move(built),
                           report = std::move(report)] { body_(assignment, built, *report); });
  }
  void Stop(AttemptId attempt, StopReason reason) override {
    MutexLock lock(mu_);
    stopped_[attempt.value] = reason;
    changed_.NotifyAll();
  }
  void Join() {
    std::vector<std::thread> threads;
    {
      MutexLock lock(mu_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  StopReason WaitForStop(AttemptId attempt) {
    MutexLock lock(mu_);
    while (!stopped_.contains(attempt.value)) changed_.Wait(mu_);
    return stopped_[attempt.value];
  }
  int started(int64_t attempt) {
    MutexLock lock(mu_);
    return started_[attempt];
  }

 private:
  const Body body_;
  Mutex mu_;
  CondVar changed_;
  std::map<int64_t, int> started_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, StopReason> stopped_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_FAKE_RUNNER_H_
