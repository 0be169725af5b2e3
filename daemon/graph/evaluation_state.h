// The lifecycle of an evaluation: requested -> evaluating -> evaluated -> settled | incomplete | failed. Drawn in
// daemon/README.md. Pure.
#ifndef HYDRANT_DAEMON_GRAPH_EVALUATION_STATE_H_
#define HYDRANT_DAEMON_GRAPH_EVALUATION_STATE_H_

#include <optional>
#include <string_view>

namespace hydrant {

enum class EvaluationState { kRequested, kEvaluating, kEvaluated, kSettled, kIncomplete, kFailed, kCancelled };

enum class EvaluationEvent {
  kBegun,        // its source is being read
  kInterrupted,  // hydrantd restarted meanwhile: begins again
  kAllKnown,     // every variant has its outcome
  kSettled,      // every variant is final or waiting
  kSettledIncomplete,  // as kSettled, but some variants are unknown to a dead evaluator
  kFailed,       // nothing could be evaluated
  kCancelled,
  kReopened,     // `retry`, or a waiting variant became runnable
};

inline constexpr int kEvaluationStateCount = 7;
inline constexpr int kEvaluationEventCount = 8;

std::optional<EvaluationState> NextEvaluationState(EvaluationState state, EvaluationEvent event);
bool IsFinal(EvaluationState state);  // settled, incomplete, failed, cancelled
std::string_view EvaluationStateName(EvaluationState state);
std::optional<EvaluationState> ParseEvaluationState(std::string_view name);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_EVALUATION_STATE_H_
