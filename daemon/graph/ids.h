// Numbers of the daemon's things, each a type of its own so that none passes for another.
#ifndef HYDRANT_DAEMON_GRAPH_IDS_H_
#define HYDRANT_DAEMON_GRAPH_IDS_H_

#include <compare>
#include <cstdint>
#include <functional>

namespace hydrant {

template <class Tag>
struct Number {
  int64_t value = 0;  // 0: none
  explicit operator bool() const { return value != 0; }
  friend auto operator<=>(const Number&, const Number&) = default;
};

using EvaluationId = Number<struct EvaluationTag>;  // unique in the farm, counts up from 1
using AttemptId = Number<struct AttemptTag>;        // unique in the farm, counts up from 1
using LeaseToken = Number<struct LeaseTag>;         // fencing: a later lease of the same work has a larger one

}  // namespace hydrant

template <class Tag>
struct std::hash<hydrant::Number<Tag>> {
  size_t operator()(const hydrant::Number<Tag>& n) const { return std::hash<int64_t>()(n.value); }
};

#endif  // HYDRANT_DAEMON_GRAPH_IDS_H_
