// A derived package list as imports of the tree: one slice, its switch off and on. Knows nothing of
// processes.
#ifndef HYDRANT_DAEMON_EVALUATE_DERIVED_IMPORTS_H_
#define HYDRANT_DAEMON_EVALUATE_DERIVED_IMPORTS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/evaluate/derived_list.h"
#include "daemon/evaluate/driver_request.h"
#include "daemon/evaluate/evaluator.h"

namespace hydrant {

// Names in one import. One of nixpkgs 19.09 costs as much as 14 names, and a thousand of its packages 400 MB.
inline constexpr size_t kNamesInAnImport = 1000;

struct SwitchedRequests {
  DriverRequest off, on;  // `sets` of `on` are those of the filter
};

// For the first possible slice. A built-in recipe gets the switch in its config, where it outranks all axes,
// one of the user's own as slice.SWITCH, true or false. InvalidArgument when the expansion has no slice.
absl::StatusOr<SwitchedRequests> SwitchRequests(const EvaluationInput& input, const DriverRequest& common);

// Every name off and on, kNamesInAnImport at a time, both halves of a group of names after each other.
std::vector<DriverRequest> ComparedImports(const SwitchedRequests& requests,
                                           const DerivedComparison& comparison);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DERIVED_IMPORTS_H_
