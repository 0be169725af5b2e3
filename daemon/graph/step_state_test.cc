#include "daemon/graph/step_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hydrant {
namespace {

// All (state, event) pairs that lead somewhere, walked in order of the enums.
std::string DrawTable() {
  std::string drawn = "\n";
  for (int s = 0; s < kStepStateCount; ++s) {
    drawn += std::string(StepStateName(static_cast<StepState>(s))) + ":\n";
    for (int e = 0; e < kStepEventCount; ++e) {
      const auto next = NextStepState(static_cast<StepState>(s), static_cast<StepEvent>(e));
      if (!next.has_value()) continue;
      drawn += "  " + std::string(StepEventName(static_cast<StepEvent>(e))) + " -> " +
               std::string(StepStateName(*next)) + "\n";
    }
  }
  return drawn;
}

TEST(StepStateTest, EveryPairOfStateAndEventDoesWhatTheDrawingSays) {
  EXPECT_EQ(DrawTable(), R"(
blocked:
  inputs_succeeded -> ready
  found_in_cache -> succeeded
  input_failed -> dependency_failed
  cancelled -> cancelled
ready:
  found_in_cache -> succeeded
  granted -> running
  cancelled -> cancelled
running:
  outputs_verified -> built
  failed_by_farm -> backing_off
  failed_for_good -> failed
  cancelled -> cancelled
built:
  staged -> succeeded
  failed_by_farm -> backing_off
succeeded:
backing_off:
  found_in_cache -> succeeded
  failed_for_good -> failed
  backoff_over -> ready
  cancelled -> cancelled
failed:
  found_in_cache -> succeeded
  retried_ready -> ready
  retried_blocked -> blocked
cancelled:
  found_in_cache -> succeeded
  input_failed -> dependency_failed
  retried_ready -> ready
  retried_blocked -> blocked
dependency_failed:
  found_in_cache -> succeeded
  input_failed -> dependency_failed
  retried_ready -> ready
  retried_blocked -> blocked
)");
}

TEST(StepStateTest, ASucceededStepNeverMovesAgain) {
  for (int e = 0; e < kStepEventCount; ++e) {
    EXPECT_EQ(NextStepState(StepState::kSucceeded, static_cast<StepEvent>(e)), std::nullopt);
  }
}

TEST(StepStateTest, NamesReadBackAndAnUnknownOneDoesNot) {
  for (int s = 0; s < kStepStateCount; ++s) {
    const auto state = static_cast<StepState>(s);
    EXPECT_EQ(ParseStepState(StepStateName(state)), state);
  }
  EXPECT_EQ(ParseStepState("Blocked"), std::nullopt);
  EXPECT_EQ(ParseStepState(""), std::nullopt);
}

}  // namespace
}  // namespace hydrant
