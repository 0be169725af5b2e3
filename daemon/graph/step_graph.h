// The DAG of all steps that anyone wants, deduplicated by derivation: who waits for whom, and every step's state. The only
// place that applies step_state's table. Knows nothing of workers, leases or storage; no lock of its own (the coordinator's
// guards it). A change is first *planned* (which steps move, and how), then recorded by the caller, then applied.
#ifndef HYDRANT_DAEMON_GRAPH_STEP_GRAPH_H_
#define HYDRANT_DAEMON_GRAPH_STEP_GRAPH_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/graph/step_state.h"
#include "lib/failure/cause.h"

namespace hydrant {

// Index of a step in its graph; stable for the graph's life, of no meaning outside it.
using StepId = uint32_t;

// What a step is: constant once it is in the graph.
struct StepSpec {
  std::string derivation;  // .drv path
  std::string name;        // "jaxlib-0.4.1"
  std::string system;
  std::set<std::string> features;             // requiredSystemFeatures
  std::map<std::string, std::string> outputs; // name -> store path; empty path for a content-addressed one
  std::vector<std::string> inputs;            // .drv paths of input derivations
  bool fixed_output = false;
};

// What changes of a step beside its state.
struct StepDetail {
  Cause cause = Cause::kNone;
  std::string message;       // the decisive line
  std::string root;          // the .drv at fault, of failed and dependency_failed
  int failed_attempts = 0;   // by the farm's fault, since the last success, retry or want
  absl::Time not_before = absl::InfinitePast();  // of backing_off
  std::string held_by;       // "" none, "ours", or a substituter's URL
};

struct StepMove {
  StepId step = 0;
  StepState from = StepState::kBlocked, to = StepState::kBlocked;
  StepDetail detail;  // after the move
};

// One thing that happens to one step.
struct StepHappening {
  StepId step = 0;
  StepEvent event = StepEvent::kCancelled;
  StepDetail detail;  // of the step, afterwards
};

class StepGraph {
 public:
  // Adds steps that are not there (input before dependent or not, in any order), each in the state that follows from
  // `known`: a state recorded earlier or found by presence, taken as it is; absent: by its inputs, blocked, ready or
  // dependency_failed. An input that is neither in `specs` nor in the graph counts as succeeded (presence pruned it) until a
  // step for it is added: then those that are blocked wait for it too. Returns the new ones, inputs before dependents.
  // InvalidArgument on a cycle (nothing is added).
  struct Known {
    StepState state = StepState::kBlocked;
    StepDetail detail;
  };
  absl::StatusOr<std::vector<StepId>> Add(const std::vector<StepSpec>& specs,
                                          const absl::flat_hash_map<std::string, Known>& known);

  std::optional<StepId> Find(std::string_view derivation) const;
  const StepSpec& spec(StepId step) const { return nodes_[step].spec; }
  StepState state(StepId step) const { return nodes_[step].state; }
  const StepDetail& detail(StepId step) const { return nodes_[step].detail; }
  // Inputs and dependents that are in the graph.
  const std::vector<StepId>& inputs(StepId step) const { return nodes_[step].inputs; }
  const std::vector<StepId>& dependents(StepId step) const { return nodes_[step].dependents; }
  size_t size() const { return nodes_.size(); }
  const std::array<int64_t, kStepStateCount>& counts() const { return counts_; }  // by state
  // Ready steps, in no order. Valid until the next change.
  const std::vector<StepId>& ready() const { return ready_; }
  // Backing-off steps whose not_before has come.
  std::vector<StepId> DueBackoffs(absl::Time now) const;
  absl::Time NextBackoff() const;  // InfiniteFuture: none

  // What follows when `event` happens to `step`: its own move and those of its dependents (ready, dependency_failed,
  // blocked again), transitively, in an order that may be recorded and applied one after the other; each step at most once.
  // kRetriedReady and kRetriedBlocked mean the same here: what follows is chosen by the inputs (a cancelled step whose input
  // will not succeed becomes dependency_failed). FailedPrecondition when the table refuses it, or when a failed or
  // dependency_failed step is retried while an input of it will not succeed (the message names it: retry that one).
  absl::StatusOr<std::vector<StepMove>> Plan(StepId step, StepEvent event, StepDetail detail) const;
  // The same for several happenings, one after the other. A step may then move more than once. All or none.
  absl::StatusOr<std::vector<StepMove>> PlanAll(const std::vector<StepHappening>& happenings) const;
  // Moves that the states as they are demand at once. None, unless a restart restored states that do not fit together, or a
  // pruned input was added later and will not succeed.
  std::vector<StepMove> Owed() const;
  // The same, of some steps that were added and of what needs them.
  std::vector<StepMove> Owed(const std::vector<StepId>& added) const;
  // Applies moves that Plan made and nothing has overtaken (FailedPrecondition otherwise, and nothing is applied).
  absl::Status Apply(const std::vector<StepMove>& moves);

  // Interest: a step is wanted while a variant or check of an open evaluation wants it or a dependent of it. Counted by the caller's
  // roots; what no root reaches may be cancelled. Each Unwant undoes one Want.
  void Want(StepId root);
  void Unwant(StepId root);
  bool wanted(StepId step) const { return nodes_[step].wants > 0; }
  // Steps that no wanted root reaches and that can be cancelled (final ones cannot, nor built ones), dependents before inputs.
  std::vector<StepId> Unwanted() const;

  // The roots and all below them, inputs before dependents.
  std::vector<StepId> InputsFirst(const std::vector<StepId>& roots) const;
  // From a dependency_failed step down to the failed one at its root, both included: .drv paths.
  std::vector<std::string> ChainToRoot(StepId step) const;
  // Every failed or cancelled step that keeps `step` from going on (itself, when it is one): all of what must be retried for it.
  std::vector<StepId> AtFault(StepId step) const;

 private:
  friend class StepPlanner;
  struct Node {
    StepSpec spec;
    StepState state = StepState::kBlocked;
    StepDetail detail;
    std::vector<StepId> inputs, dependents;
    int32_t waiting = 0;   // inputs that have not succeeded
    int32_t dead = 0;      // of those, the ones that will not: failed, cancelled, dependency_failed
    int32_t wants = 0;     // Want calls and wanted dependents
    int32_t ready_at = -1;  // place in ready_
  };
  absl::StatusOr<std::vector<const StepSpec*>> NewInputsFirst(const std::vector<StepSpec>& specs) const;
  StepId AddNode(const StepSpec& spec, const Known* known);
  void LinkInputs(StepId step);
  void LinkLateDependents(StepId step);
  void SetState(StepId step, StepState to, const StepDetail& detail);  // the one place where a step's state changes
  void Enter(StepId step);  // counters, ready list and backoffs
  void Leave(StepId step);

  std::vector<Node> nodes_;
  absl::flat_hash_map<std::string, StepId> by_derivation_;
  absl::flat_hash_map<std::string, std::vector<StepId>> pruned_;  // .drv that has no step -> steps that have it as an input
  std::vector<StepId> ready_;
  std::set<std::pair<absl::Time, StepId>> backoffs_;
  std::array<int64_t, kStepStateCount> counts_{};
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_STEP_GRAPH_H_
