#include "daemon/graph/evaluation_state.h"

#include <array>

namespace hydrant {
namespace {

using S = EvaluationState;
using E = EvaluationEvent;

struct Row {
  S state;
  E event;
  S next;
};

// Every arrow of the drawing in daemon/README.md; what is not here cannot happen.
constexpr Row kTable[] = {
    {S::kRequested, E::kBegun, S::kEvaluating},
    {S::kRequested, E::kFailed, S::kFailed},
    {S::kRequested, E::kCancelled, S::kCancelled},
    {S::kEvaluating, E::kInterrupted, S::kRequested},
    {S::kEvaluating, E::kAllKnown, S::kEvaluated},
    {S::kEvaluating, E::kFailed, S::kFailed},
    {S::kEvaluating, E::kCancelled, S::kCancelled},
    {S::kEvaluated, E::kSettled, S::kSettled},
    {S::kEvaluated, E::kSettledIncomplete, S::kIncomplete},
    {S::kEvaluated, E::kCancelled, S::kCancelled},
    {S::kSettled, E::kReopened, S::kEvaluated},
    {S::kIncomplete, E::kReopened, S::kEvaluated},
};

constexpr std::array<std::string_view, kEvaluationStateCount> kNames = {
    "requested", "evaluating", "evaluated", "settled", "incomplete", "failed", "cancelled"};

}  // namespace

std::optional<EvaluationState> NextEvaluationState(EvaluationState state, EvaluationEvent event) {
  for (const Row& row : kTable) {
    if (row.state == state && row.event == event) return row.next;
  }
  return std::nullopt;
}

bool IsFinal(EvaluationState state) {
  return state == S::kSettled || state == S::kIncomplete || state == S::kFailed || state == S::kCancelled;
}

std::string_view EvaluationStateName(EvaluationState state) { return kNames[static_cast<size_t>(state)]; }

std::optional<EvaluationState> ParseEvaluationState(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<EvaluationState>(i);
  }
  return std::nullopt;
}

}  // namespace hydrant
