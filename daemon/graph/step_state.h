// The lifecycle of a step: its states, what can happen to it, and the one table that says what follows. Drawn in
// daemon/README.md. Pure; knows nothing of why something happens.
#ifndef HYDRANT_DAEMON_GRAPH_STEP_STATE_H_
#define HYDRANT_DAEMON_GRAPH_STEP_STATE_H_

#include <optional>
#include <string_view>

namespace hydrant {

enum class StepState {
  kBlocked,           // an input has not succeeded
  kReady,             // a worker may take it
  kRunning,           // an attempt holds its lease
  kBuilt,             // the worker built it and all outputs are verified; about to be staged
  kSucceeded,         // all outputs are staged, published or held upstream
  kBackingOff,        // the farm failed it; ready again when its time comes
  kFailed,            // by the package's own fault, or out of tries; `retry` clears it
  kCancelled,         // nobody wants it any more; a new evaluation or `retry` wants it again
  kDependencyFailed,  // an input is failed, dependency_failed or cancelled
};

enum class StepEvent {
  kInputsSucceeded,   // the last input that it waited for succeeded
  kFoundInCache,      // its outputs were found before anyone built them
  kGranted,           // a lease was granted
  kOutputsVerified,   // the worker ended it well and every output is verified
  kStaged,            // every output is staged
  kFailedByFarm,      // an attempt ended by the farm's fault or was lost; tries are left
  kFailedForGood,     // an attempt ended by the package's fault, or no try is left
  kBackoffOver,       // its time has come
  kInputFailed,       // an input will not succeed
  kCancelled,         // its last wanter went
  kRetriedReady,      // `retry` or a new wanter; all inputs have succeeded
  kRetriedBlocked,    // `retry` or a new wanter, or the failed input is tried again; an input has not succeeded
};

inline constexpr int kStepStateCount = 9;
inline constexpr int kStepEventCount = 12;

// What follows, or nothing when the event cannot happen in that state.
std::optional<StepState> NextStepState(StepState state, StepEvent event);

// Final until someone wants it again: succeeded, failed, cancelled, dependency_failed.
bool IsFinal(StepState state);

// "blocked", … "dependency_failed": the words of SQL, metrics and the interface. And back.
std::string_view StepStateName(StepState state);
std::optional<StepState> ParseStepState(std::string_view name);
std::string_view StepEventName(StepEvent event);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_STEP_STATE_H_
