#include "worker/attempt_threads.h"

#include <utility>

namespace hydrant::worker {

void AttemptThreads::Start(Assignment assignment, std::optional<AttemptEnd> built,
                           std::shared_ptr<AttemptReport> report) {
  ReapEnded();
  const AttemptId id = assignment.attempt;
  auto attempt = std::make_unique<Attempt>(tools_, std::move(assignment), std::move(report));
  MutexLock lock(mu_);
  const auto self = running_.insert(running_.end(), Running{.id = id, .attempt = attempt.get()});
  self->thread = std::thread([this, self, attempt = std::move(attempt), built = std::move(built)]() mutable {
    Run(self, std::move(attempt), std::move(built));
  });
}

void AttemptThreads::Run(std::list<Running>::iterator self, std::unique_ptr<Attempt> attempt,
                         std::optional<AttemptEnd> built) {
  attempt->Run(std::move(built));
  {
    MutexLock lock(mu_);
    self->attempt = nullptr;
  }
  // Its report goes with it, outside the lock and in this thread: a report may wait for its own thread, which
  // may call Stop.
  attempt.reset();
}

void AttemptThreads::Stop(AttemptId id, StopReason reason) {
  MutexLock lock(mu_);
  for (Running& running : running_) {
    if (running.id == id && running.attempt != nullptr) running.attempt->Stop(reason);
  }
}

void AttemptThreads::ReapEnded() {
  std::list<Running> ended;
  {
    MutexLock lock(mu_);
    for (auto it = running_.begin(); it != running_.end();) {
      const auto next = std::next(it);
      if (it->attempt == nullptr) ended.splice(ended.end(), running_, it);
      it = next;
    }
  }
  for (Running& running : ended) running.thread.join();
}

void AttemptThreads::Join() {
  for (;;) {
    std::thread thread;
    {
      MutexLock lock(mu_);
      if (running_.empty()) return;
      thread = std::move(running_.front().thread);
    }
    thread.join();
    MutexLock lock(mu_);
    running_.pop_front();
  }
}

}  // namespace hydrant::worker
