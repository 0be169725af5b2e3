// What a fuzz target says when a promise is broken: the promise and what was got, then abort().
#ifndef HYDRANT_TESTS_FUZZ_DEMAND_H_
#define HYDRANT_TESTS_FUZZ_DEMAND_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace hydrant::fuzz {

inline void Demand(bool holds, std::string_view promise, std::string_view got = {}) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  if (!got.empty()) std::fprintf(stderr, "got: %.*s\n", static_cast<int>(got.size()), got.data());
  std::abort();
}

inline void DemandOk(const absl::Status& status, std::string_view promise) {
  if (!status.ok()) Demand(false, promise, status.ToString());
}

}  // namespace hydrant::fuzz

#endif  // HYDRANT_TESTS_FUZZ_DEMAND_H_
