#include "daemon/graph/evaluation_state.h"

#include <gtest/gtest.h>

#include <string>

namespace hydrant {
namespace {

constexpr const char* kEvents[kEvaluationEventCount] = {
    "begun", "interrupted", "all_known", "settled", "settled_incomplete", "failed", "cancelled", "reopened"};

std::string DrawTable() {
  std::string drawn = "\n";
  for (int s = 0; s < kEvaluationStateCount; ++s) {
    drawn += std::string(EvaluationStateName(static_cast<EvaluationState>(s))) + ":\n";
    for (int e = 0; e < kEvaluationEventCount; ++e) {
      const auto next = NextEvaluationState(static_cast<EvaluationState>(s), static_cast<EvaluationEvent>(e));
      if (!next.has_value()) continue;
      drawn += "  " + std::string(kEvents[e]) + " -> " + std::string(EvaluationStateName(*next)) + "\n";
    }
  }
  return drawn;
}

TEST(EvaluationStateTest, EveryPairOfStateAndEventDoesWhatTheDrawingSays) {
  EXPECT_EQ(DrawTable(), R"(
requested:
  begun -> evaluating
  failed -> failed
  cancelled -> cancelled
evaluating:
  interrupted -> requested
  all_known -> evaluated
  failed -> failed
  cancelled -> cancelled
evaluated:
  settled -> settled
  settled_incomplete -> incomplete
  cancelled -> cancelled
settled:
  reopened -> evaluated
incomplete:
  reopened -> evaluated
failed:
cancelled:
)");
}

TEST(EvaluationStateTest, NamesReadBack) {
  for (int s = 0; s < kEvaluationStateCount; ++s) {
    const auto state = static_cast<EvaluationState>(s);
    EXPECT_EQ(ParseEvaluationState(EvaluationStateName(state)), state);
  }
  EXPECT_EQ(ParseEvaluationState("done"), std::nullopt);
}

}  // namespace
}  // namespace hydrant
