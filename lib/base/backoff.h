// How long to wait before the next try: exponential, capped, with jitter. A value; waits for nothing itself.
#ifndef HYDRANT_LIB_BASE_BACKOFF_H_
#define HYDRANT_LIB_BASE_BACKOFF_H_

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/time/time.h"

namespace hydrant {

struct Backoff {
  absl::Duration first = absl::Milliseconds(250);
  absl::Duration most = absl::Minutes(1);
  double factor = 2.0;

  // The longest wait after `failures` failed tries (1 after the first failure; less counts as 1).
  absl::Duration Longest(int failures) const {
    const double growth = std::pow(factor, std::max(0, failures - 1));
    return std::min(
        most, absl::Seconds(std::min(absl::ToDoubleSeconds(first) * growth, absl::ToDoubleSeconds(most))));
  }

  // Between half of Longest() and all of it, evenly, so that a crowd that failed together comes back apart.
  template <typename UniformRandomBitGenerator>
  absl::Duration Delay(int failures, UniformRandomBitGenerator& random) const {
    return Longest(failures) * std::uniform_real_distribution<double>(0.5, 1.0)(random);
  }
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_BACKOFF_H_
