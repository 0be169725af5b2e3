// How long a step will take, from how long its like took: by derivation, else by package name, else one guess for all. Pure.
#ifndef HYDRANT_DAEMON_SCHEDULE_ESTIMATE_H_
#define HYDRANT_DAEMON_SCHEDULE_ESTIMATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "daemon/graph/step_graph.h"

namespace hydrant {

class Estimate {
 public:
  // An attempt of `name` ("jaxlib-0.4.1", known also as "jaxlib") succeeded in `duration`.
  void Observe(std::string_view name, absl::Duration duration);
  absl::Duration Of(std::string_view name) const;
  bool Known(std::string_view name) const;

 private:
  absl::flat_hash_map<std::string, absl::Duration> by_name_, by_package_;
};

// "jaxlib-cuda-0.4.1" -> "jaxlib-cuda": up to the first dash before a digit, as Nix parses names.
std::string PackageOf(std::string_view name);

// For each step of the graph: the longest path from it up through its dependents that are not final, itself included; zero
// for a final one. One pass, O(edges).
std::vector<absl::Duration> RemainingPaths(const StepGraph& graph, const Estimate& estimate);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SCHEDULE_ESTIMATE_H_
