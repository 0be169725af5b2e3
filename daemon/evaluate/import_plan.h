// Which variants share one import of the tree: what costs an evaluation its time and memory. Slices that
// differ only in the Python set, which built-in recipes choose by attribute path, share one. Knows nothing of
// processes.
#ifndef HYDRANT_DAEMON_EVALUATE_IMPORT_PLAN_H_
#define HYDRANT_DAEMON_EVALUATE_IMPORT_PLAN_H_

#include <vector>

#include "daemon/evaluate/driver_request.h"
#include "daemon/evaluate/evaluator.h"

namespace hydrant {

// An import of the slice, for names to be added: what all have in common, the slice's own overlays after and
// its settings of nixpkgs over that. A built-in recipe does not see the axes that chose them.
DriverRequest SliceRequest(const EvaluationInput& input, const DriverRequest& common, Slice slice);

// One request an import, that of the most names first. `common`: what all have in common; its recipe decides
// whether the Python set is part of the import.
std::vector<DriverRequest> PlanImports(const EvaluationInput& input, const DriverRequest& common);

// The same names dealt one by one to `processes`, whatever their import, as a pool does that shards by
// attribute: the imports of each. For comparison only.
std::vector<std::vector<DriverRequest>> ScatterImports(const std::vector<DriverRequest>& imports,
                                                       size_t processes);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_IMPORT_PLAN_H_
