// One change of the farm: what is recorded, and what memory does once it is. Made under the coordinator's lock.
#ifndef HYDRANT_DAEMON_COORDINATOR_DECISION_H_
#define HYDRANT_DAEMON_COORDINATOR_DECISION_H_

#include <functional>
#include <utility>
#include <vector>

#include "daemon/coordinator/coordinator.h"

namespace hydrant {

struct Coordinator::Decision {
  Batch batch;
  std::vector<StepMove> moves;                        // applied to the graph, in order
  std::vector<std::function<void(FarmState&)>> then;  // after the moves
  std::vector<std::function<void(FarmObserver&)>> told;

  bool empty() const { return batch.empty(); }
  void Record(Change change) { batch.push_back(std::move(change)); }
  void Then(std::function<void(FarmState&)> effect) { then.push_back(std::move(effect)); }
  void Tell(std::function<void(FarmObserver&)> event) { told.push_back(std::move(event)); }

  // Moves of the graph, to be recorded and applied.
  void Move(const StepGraph& graph, std::vector<StepMove> planned) {
    MoveSteps recorded;
    for (const StepMove& move : planned) {
      recorded.moves.push_back({.derivation = graph.spec(move.step).derivation,
                                .from = move.from,
                                .to = move.to,
                                .detail = move.detail});
      moves.push_back(move);
    }
    if (!recorded.moves.empty()) batch.emplace_back(std::move(recorded));
  }

  // Moves an evaluation, unless its table refuses.
  bool MoveEvaluationBy(const EvaluationRecord& from, EvaluationEvent event, MoveEvaluation move) {
    auto next = NextEvaluationState(from.state, event);
    if (!next) return false;
    move.id = from.id;
    move.from = from.state;
    move.to = *next;
    if (move.revision.empty()) move.revision = from.revision;
    batch.emplace_back(move);
    Then([move](FarmState& state) {
      EvaluationEntry& evaluation = state.evaluations.at(move.id);
      evaluation.changed = true;
      EvaluationRecord& record = evaluation.record;
      record.state = move.to;
      record.revision = move.revision;
      record.message = move.message;
      record.settled_at = move.settled_at;
      record.gate_passed = move.gate_passed;
    });
    return true;
  }

  // Moves a check; `check` holds its fields after the move but for the state.
  bool MoveCheckBy(const CheckRecord& from, CheckEvent event, CheckRecord check) {
    auto next = NextCheckState(from.state, event);
    if (!next) return false;
    check.state = *next;
    batch.emplace_back(MoveCheck{.from = from.state, .check = check});
    Then([check](FarmState& state) {
      state.checks.at(check.key).record = check;
      CheckMoved(state, check.key);
    });
    return true;
  }
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_DECISION_H_
