// One evaluation evaluates at a time, since each may use the evaluators' whole memory budget; those whose
// tree is there wait here, the highest priority first, then the oldest. Thread-safe.
#ifndef HYDRANT_DAEMON_COORDINATOR_EVALUATION_TURN_H_
#define HYDRANT_DAEMON_COORDINATOR_EVALUATION_TURN_H_

#include <atomic>
#include <cstddef>
#include <set>

#include "daemon/graph/ids.h"
#include "lib/base/mutex.h"

namespace hydrant {

class EvaluationTurn {
 public:
  struct Place {
    int priority = 0;
    EvaluationId id;
    // The earlier first.
    bool operator<(const Place& other) const {
      return priority != other.priority ? priority > other.priority : id < other.id;
    }
  };

  // Its turn, until this is gone.
  class Held {
   public:
    // Waits; for no longer than until `cancelled`, which is looked at several times a second.
    Held(EvaluationTurn& turn, const Place& place, const std::atomic<bool>& cancelled);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    // False when it was cancelled before its turn came.
    bool came() const { return came_; }

   private:
    EvaluationTurn& turn_;
    bool came_ = false;
  };

  // How many wait.
  size_t waiting() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool Take(const Place& place, const std::atomic<bool>& cancelled) ABSL_LOCKS_EXCLUDED(mu_);
  void Give() ABSL_LOCKS_EXCLUDED(mu_);

  mutable Mutex mu_;
  CondVar changed_;
  bool taken_ ABSL_GUARDED_BY(mu_) = false;
  std::set<Place> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_EVALUATION_TURN_H_
