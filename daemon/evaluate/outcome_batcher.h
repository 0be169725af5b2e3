// Gathers outcomes as they come from several threads and hands them over some at a time: when there are 64,
// or 50 ms after the first. Thread-safe.
#ifndef HYDRANT_DAEMON_EVALUATE_OUTCOME_BATCHER_H_
#define HYDRANT_DAEMON_EVALUATE_OUTCOME_BATCHER_H_

#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "daemon/evaluate/evaluator.h"
#include "lib/base/mutex.h"

namespace hydrant {

class OutcomeBatcher {
 public:
  // `take` outlives this; one call at a time.
  explicit OutcomeBatcher(const std::function<void(std::vector<Outcome>)>& take) : take_(take) {}

  void Add(Outcome outcome) ABSL_LOCKS_EXCLUDED(mu_, take_mu_);
  // Asked now and then by whoever adds.
  void FlushIfDue() ABSL_LOCKS_EXCLUDED(mu_, take_mu_);
  void Flush() ABSL_LOCKS_EXCLUDED(mu_, take_mu_);

 private:
  bool Due() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::function<void(std::vector<Outcome>)>& take_;
  Mutex take_mu_;  // held while `take_` runs, before mu_
  Mutex mu_;
  std::vector<Outcome> waiting_ ABSL_GUARDED_BY(mu_);
  absl::Time first_ ABSL_GUARDED_BY(mu_);  // when the first of `waiting_` came
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_OUTCOME_BATCHER_H_
