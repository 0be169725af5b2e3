// What follows from what happens to steps, worked out on a copy of only those that it touches. StepGraph's
// own; it knows nothing that the graph does not.
#ifndef HYDRANT_DAEMON_GRAPH_STEP_PLAN_H_
#define HYDRANT_DAEMON_GRAPH_STEP_PLAN_H_

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "daemon/graph/step_graph.h"

namespace hydrant {

// An input in this state will not succeed until someone retries it.
bool IsDead(StepState state);

// Why a dependent of a dead step will not succeed.
StepDetail BlameOn(const StepSpec& input, StepState state, const StepDetail& detail);

class StepPlanner {
 public:
  explicit StepPlanner(const StepGraph& graph) : graph_(graph) {}

  // The event and all that follows. FailedPrecondition as StepGraph::Plan; the planner is then of no further
  // use.
  absl::Status Happen(StepId step, StepEvent event, StepDetail detail);
  // What `step` owes by the states as they are.
  void Settle(StepId step);
  // Takes over moves planned earlier. FailedPrecondition when one does not fit.
  absl::Status Replay(const std::vector<StepMove>& moves);

  std::vector<StepMove> TakeMoves() { return std::move(moves_); }

 private:
  struct Shadow {
    StepState state;
    StepDetail detail;
    int32_t waiting, dead;
  };
  struct Moved {
    StepId step;
    std::string old_root;  // whom its dependents blamed before, when it was dead
  };

  Shadow& At(StepId step);
  StepState StateOf(StepId step) const;
  const StepDetail& DetailOf(StepId step) const;
  absl::Status Choose(StepId step, StepEvent& event, StepDetail& detail);
  void Move(StepId step, StepState to, StepDetail detail);
  void Follow();
  void Consider(StepId step, std::string_view old_root);
  void ConsiderBlocked(StepId step, const Shadow& now);
  // By the first dead input whose root is another than `old_root`; false: there is none.
  bool Blame(StepId step, std::string_view old_root, StepDetail& detail) const;
  absl::Status Refusal(StepId step, std::string_view what) const;

  const StepGraph& graph_;
  absl::flat_hash_map<StepId, Shadow> shadows_;
  std::deque<Moved> moved_;
  std::vector<StepMove> moves_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_STEP_PLAN_H_
