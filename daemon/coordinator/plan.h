// What an evaluation that is not recorded would come to: its variants, the steps to build and where the others are. Pure.
#ifndef HYDRANT_DAEMON_COORDINATOR_PLAN_H_
#define HYDRANT_DAEMON_COORDINATOR_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/coordinator/farm_state.h"
#include "daemon/coordinator/views.h"
#include "daemon/graph/step_state.h"

namespace hydrant {

struct PlannedVariant {
  VariantRecord record;
  std::string state;    // cached pending impossible failed dependency_failed
  std::string held_by;  // of cached: "ours" or the cache's URL
  std::shared_ptr<const VariantFacts> facts;  // null: nothing is known
  HydraVerdict hydra;
};

struct PlanView {
  std::string revision;
  std::vector<std::string> notes;  // of its package list
  std::vector<PlannedVariant> variants;
  int64_t build = 0, present = 0, shared = 0;  // steps
  std::map<std::string, int64_t> present_in;   // of the present ones: "ours" or a cache's URL -> how many
};

// `entry` has every variant of the matrix, `batch` the outcome of each that no rule refused, `states` those of its steps
// that the farm knows already.
PlanView MakePlan(const std::string& revision, const EvaluationEntry& entry, const OutcomeBatch& batch,
                  const std::map<std::string, StepState>& states);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_PLAN_H_
