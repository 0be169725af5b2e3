// Hears what attempts do, for metrics. Any thread.
#ifndef HYDRANT_WORKER_ATTEMPT_OBSERVER_H_
#define HYDRANT_WORKER_ATTEMPT_OBSERVER_H_

#include <cstdint>

#include "worker/lease/assignment.h"

namespace hydrant::worker {

class AttemptObserver {
 public:
  virtual ~AttemptObserver() = default;
  // `before`: the stage that it left; kLeased when this is its first.
  virtual void Entered(AttemptStage stage, AttemptStage before) = 0;
  virtual void Uploaded(int64_t paths, int64_t bytes) = 0;
  // `last`: the stage that it was in; kLeased when it entered none.
  virtual void Ended(const AttemptEnd& end, AttemptStage last) = 0;
};

class NoObserver final : public AttemptObserver {
 public:
  void Entered(AttemptStage, AttemptStage) override {}
  void Uploaded(int64_t, int64_t) override {}
  void Ended(const AttemptEnd&, AttemptStage) override {}
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_ATTEMPT_OBSERVER_H_
