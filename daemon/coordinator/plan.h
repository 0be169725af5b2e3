// What an evaluation that is not recorded would come to: its variants, the steps to build, where the others
// are, and what that would cost by history on the farm as it is now. Pure.
#ifndef HYDRANT_DAEMON_COORDINATOR_PLAN_H_
#define HYDRANT_DAEMON_COORDINATOR_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/coordinator/views.h"
#include "daemon/graph/step_state.h"
#include "daemon/schedule/forecast.h"

namespace hydrant {

struct PlannedVariant {
  VariantRecord record;
  std::string state;    // cached pending impossible failed dependency_failed
  std::string held_by;  // of cached: "ours" or the cache's URL
  // Of failed and dependency_failed: what the farm remembers.
  Cause cause = Cause::kNone;
  std::string message, root;
  std::shared_ptr<const VariantFacts> facts;  // null: nothing is known
  HydraVerdict hydra;
};

struct PlanSummary {
  std::map<std::string, int64_t> totals;       // state of a variant -> how many
  int64_t build = 0, present = 0, shared = 0;  // steps
  std::map<std::string, int64_t> present_in;   // of the present ones: "ours" or a cache's URL -> how many
  Forecast forecast;                           // of the steps to build and the checks to run
  // What builds would fetch: outputs that a cache has and a step to build uses, each once, without what these
  // refer to.
  int64_t downloads = 0;
  int64_t download_bytes = 0;     // compressed, of those whose cache says it
  int64_t unknown_downloads = 0;  // outputs, of the others
};

// What some more values of the axes would cost beside the rest.
struct PlanAddition {
  PlanSummary with;                      // the whole
  PlanSummary difference;                // the whole without what the rest costs anyway
  std::vector<PlannedVariant> variants;  // those that the values add
};

struct PlanView : PlanSummary {
  std::string revision;
  std::vector<std::string> notes;  // of its package list
  std::vector<PlannedVariant> variants;
  std::optional<PlanAddition> addition;
};

// The outputs that builds of a batch would fetch.
std::set<std::string> DownloadsOf(const OutcomeBatch& batch, const PlanBasis& basis);

// `entry` has every variant of the matrix, `batch` the outcome of each that no rule refused.
PlanView MakePlan(const std::string& revision, const EvaluationEntry& entry, const OutcomeBatch& batch,
                  const PlanBasis& basis);

// The same matrix with more values ("cuda=13.1"), its derived package list kept. InvalidArgument as AddAxisValue, or too many cells.
absl::StatusOr<std::shared_ptr<const Declared>> Extend(const Declared& declared,
                                                       const std::vector<std::string>& values,
                                                       std::string_view system);

// A plan of `part`, with what `whole` (the same matrix with more values) would add: `batch` has the outcomes
// of the whole.
PlanView MakeAdditionPlan(const std::string& revision, const EvaluationEntry& part,
                          const EvaluationEntry& whole, const OutcomeBatch& batch, const PlanBasis& basis);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_PLAN_H_
