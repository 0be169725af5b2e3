// Which evaluating process has which imports: each keeps what it was dealt, and one that has nothing left
// takes half of what another has not begun. An import is never divided. Thread-safe; knows nothing of what an
// import is.
#ifndef HYDRANT_DAEMON_EVALUATE_IMPORT_QUEUE_H_
#define HYDRANT_DAEMON_EVALUATE_IMPORT_QUEUE_H_

#include <cstddef>
#include <deque>
#include <vector>

#include "lib/base/mutex.h"

namespace hydrant {

class ImportQueue {
 public:
  // Deals imports 0, 1, … of these weights, each to whom has least.
  ImportQueue(const std::vector<size_t>& weights, size_t workers);

  // At most `most` imports for one process of this worker, in the order in which to evaluate them; the first
  // is begun. Empty: nobody has any to spare.
  std::vector<size_t> Take(size_t worker, size_t most) ABSL_LOCKS_EXCLUDED(mu_);
  // Before each further one: false when it is another's by now.
  bool Begin(size_t worker, size_t import) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Steal(size_t worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Mutex mu_;
  std::vector<std::deque<size_t>> waiting_ ABSL_GUARDED_BY(mu_);  // by worker, not begun
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_IMPORT_QUEUE_H_
