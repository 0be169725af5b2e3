// What steps and checks will cost, from what their like cost: by name with version, else by package, else by the package in
// another package set (python3.12-torch for python3.13-torch). Pure.
#ifndef HYDRANT_DAEMON_SCHEDULE_ESTIMATE_H_
#define HYDRANT_DAEMON_SCHEDULE_ESTIMATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "daemon/graph/step_graph.h"

namespace hydrant {

// Of one attempt that succeeded, or expected of one. Zero: not measured.
struct Cost {
  absl::Duration building;  // from begin to end of the builder, on the worker's clock
  absl::Duration cpu;       // of all its processes
  int64_t bytes = 0;        // NARs of its outputs
};

class Estimate {
 public:
  // An attempt of `name` ("jaxlib-0.4.1") succeeded. Newer ones weigh more: each halves the weight of those before.
  // A cost without `building` is not taken.
  void Observe(std::string_view name, const Cost& cost);
  void Observe(std::string_view name, absl::Duration building) { Observe(name, Cost{.building = building}); }
  // How long it will take; one guess for all that was never built here.
  absl::Duration Of(std::string_view name) const;
  // Nothing when neither it nor its like was built here.
  std::optional<Cost> CostOf(std::string_view name) const;
  bool Known(std::string_view name) const { return CostOf(name).has_value(); }

  // The check `check` of an output of `name` passed and ran for so long.
  void ObserveCheck(std::string_view check, std::string_view name, absl::Duration running);
  // As it ran on that package, else on any. Nothing when it never ran here.
  std::optional<absl::Duration> CheckTime(std::string_view check, std::string_view name) const;

 private:
  absl::flat_hash_map<std::string, Cost> costs_;
  absl::flat_hash_map<std::string, absl::Duration> checks_;
};

// "jaxlib-cuda-0.4.1" -> "jaxlib-cuda": up to the first dash before a digit, as Nix parses names.
std::string PackageOf(std::string_view name);

// The same without the package set that nixpkgs writes in front ("python3.12-", "cuda12.9-"): "python3.12-torch-2.1" ->
// "torch". Source: the namePrefix of nixpkgs' buildPythonPackage and the names of its CUDA redistributables.
std::string PackageOfAnySet(std::string_view name);

// For each step of the graph: the longest path from it up through its dependents that are not final, itself included; zero
// for a final one. One pass, O(edges).
std::vector<absl::Duration> RemainingPaths(const StepGraph& graph, const Estimate& estimate);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SCHEDULE_ESTIMATE_H_
