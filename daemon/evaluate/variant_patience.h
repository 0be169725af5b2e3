// How long one variant may take before its evaluator is ended: a floor, or ten times the median of the
// variants before it where that is more. Knows nothing of processes or clocks.
#ifndef HYDRANT_DAEMON_EVALUATE_VARIANT_PATIENCE_H_
#define HYDRANT_DAEMON_EVALUATE_VARIANT_PATIENCE_H_

#include <vector>

#include "absl/time/time.h"

namespace hydrant {

class VariantPatience {
 public:
  explicit VariantPatience(absl::Duration floor) : floor_(floor) {}

  // A variant was answered after so long.
  void Took(absl::Duration duration);

  absl::Duration Now() const;
  // Whether Now() is the median's and not the floor.
  bool by_median() const { return Now() > floor_; }

 private:
  const absl::Duration floor_;
  std::vector<absl::Duration> took_;  // sorted
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_VARIANT_PATIENCE_H_
