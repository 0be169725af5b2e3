#include "daemon/channel/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const GateVariant kCachedRequired{"torch@cuda12.9", true, true};
const GateVariant kFailedRequired{"jax@cuda12.9", true, false};
const GateVariant kFailedOther{"magma@cuda11.4", false, false};

TEST(GateTest, PassesWhenEveryRequiredVariantIsCached) {
  const Verdict verdict = JudgeGate(EvaluationState::kSettled, true, {kCachedRequired, kFailedOther}, {});
  EXPECT_TRUE(verdict.passed);
  EXPECT_THAT(verdict.missing, IsEmpty());
}

TEST(GateTest, NamesTheRequiredVariantThatIsMissing) {
  const Verdict verdict = JudgeGate(EvaluationState::kSettled, true, {kCachedRequired, kFailedRequired}, {});
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.missing, ElementsAre("jax@cuda12.9"));
}

TEST(GateTest, OnlyASettledEvaluationPasses) {
  for (int s = 0; s < kEvaluationStateCount; ++s) {
    const auto state = static_cast<EvaluationState>(s);
    EXPECT_EQ(JudgeGate(state, true, {kCachedRequired}, {}).passed, state == EvaluationState::kSettled);
    EXPECT_EQ(JudgeGate(state, false, {}, {}).passed, state == EvaluationState::kSettled);
  }
}

TEST(GateTest, WithoutAGateFailuresDoNotHold) {
  EXPECT_TRUE(JudgeGate(EvaluationState::kSettled, false, {kFailedOther}, {}).passed);
}

TEST(GateTest, AGlobThatSelectsNothingDoesNotPass) {
  const Verdict verdict = JudgeGate(EvaluationState::kSettled, true, {kCachedRequired}, {"tocrh@*"});
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.missing, ElementsAre(HasSubstr("tocrh@*")));
}

TEST(GateTest, AChannelMovesOnlyToANewerEvaluation) {
  EXPECT_TRUE(MayMove(EvaluationId{0}, EvaluationId{1}));
  EXPECT_TRUE(MayMove(EvaluationId{4}, EvaluationId{7}));
  EXPECT_FALSE(MayMove(EvaluationId{7}, EvaluationId{7}));
  EXPECT_FALSE(MayMove(EvaluationId{7}, EvaluationId{4}));
}

}  // namespace
}  // namespace hydrant
