// Cancel and retry: what users no longer want, and want again.
#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WantsTest : public FarmTest {};

TEST_F(WantsTest, CancellingAnEvaluationRevokesWhatOnlyItWants) {
  SetPackages("shared\nown\na: shared own\nb: shared");
  Declare("m", {"a"});
  Declare("n", {"b"});
  TestWorker worker("w1", farm(), 2);
  worker.Sync();
  TriggerAndEvaluate("m");
  TriggerAndEvaluate("n");
  worker.Sync();
  EXPECT_EQ(worker.Held(), "own shared");
  const AttemptId own = worker.Of("own").lease.attempt;
  auto cancelled = farm().Cancel({.matrix = "m"});
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->cancelled, 2) << "own and a";
  EXPECT_EQ(cancelled->variants, 0);
  EXPECT_EQ(StateOfEvaluation("m"), "cancelled");
  EXPECT_EQ(States("m"), "a:cancelled");
  EXPECT_THAT(worker.Sync().revoked, ElementsAre(own));
  EXPECT_EQ(worker.Held(), "shared");
  EXPECT_EQ(States("n"), "b:pending");
  EXPECT_EQ(observer_.ended["cancelled"], 1);
  EXPECT_EQ(farm().Cancel({.matrix = "m"}).status().code(), absl::StatusCode::kFailedPrecondition);
  Restart();
  EXPECT_EQ(States("m"), "a:cancelled");
  EXPECT_EQ(States("n"), "b:pending");
}

TEST_F(WantsTest, WhatWasCancelledComesBackWithANewEvaluation) {
  SetPackages("base\ntop: base");
  Declare("m", {"top"});
  TriggerAndEvaluate("m");
  ASSERT_TRUE(farm().Cancel({.matrix = "m"}).ok());
  EXPECT_EQ(farm().StatesOf({DrvOf("base")})[DrvOf("base")], StepState::kCancelled);
  TriggerAndEvaluate("m");
  EXPECT_EQ(States(), "top:pending");
  EXPECT_EQ(States("m", {1}), "top:cancelled") << "not for the old one";
  EXPECT_EQ(farm().StatesOf({DrvOf("base")})[DrvOf("base")], StepState::kReady);
}

TEST_F(WantsTest, CancellingAVariantKeepsWhatOthersWant) {
  SetPackages("base\na: base\nb: base");
  Declare("m", {"a", "b"}, "[gate]\nrequired = [\"b@*\"]\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  worker.Sync();
  auto cancelled = farm().Cancel({.address = "a@x86_64-linux"});
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->cancelled, 1);
  EXPECT_EQ(cancelled->variants, 1);
  EXPECT_EQ(cancelled->evaluation.value, 1);
  EXPECT_EQ(States(), "a:cancelled b:pending");
  for (const char* name : {"base", "b"}) {
    worker.Sync();
    ASSERT_TRUE(Upload(name).ok());
    ASSERT_TRUE(worker.End(name, Cause::kNone).ok());
  }
  EXPECT_EQ(States(), "a:cancelled b:cached");
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(ChannelAt(), 1);
  Restart();
  EXPECT_EQ(States(), "a:cancelled b:cached");
}

TEST_F(WantsTest, CancellingEverythingByGlobSettlesTheEvaluation) {
  SetPackages("a\nb");
  Declare("m", {"a", "b"}, "[gate]\nrequired = [\"a@*\"]\n");
  TriggerAndEvaluate("m");
  ASSERT_TRUE(farm().Cancel({.address = "*@*", .matrix = "m"}).ok());
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_FALSE(Newest().gate_passed);
  EXPECT_EQ(farm().Cancel({.address = "a@x86_64-linux"}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(WantsTest, AStepThatIsCancelledCancelsNothingElseAndFailsWhatNeedsIt) {
  SetPackages("base\na: base\nb");
  Declare("m", {"a", "b"});
  TestWorker worker("w1", farm(), 2);
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  ASSERT_TRUE(farm().Cancel({.address = DrvOf("base")}).ok());
  worker.Sync();
  EXPECT_EQ(worker.Held(), "b");
  EXPECT_EQ(States(), "a:dependency_failed b:building");
  EXPECT_EQ(farm().Cancel({.address = DrvOf("base")}).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(farm().Retry({.address = "a@x86_64-linux"}, "").ok());
  EXPECT_EQ(States(), "a:pending b:building");
}

TEST_F(WantsTest, WhatNobodyWantsAnyMoreGoesOnUntilSomethingIsCancelled) {
  SetPackages("bad\nslow\ntop: bad slow");
  Declare("m", {"top"});
  TestWorker worker("w1", farm(), 2);
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  ASSERT_TRUE(worker.End("bad", Cause::kBuilderFailed).ok());
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_THAT(worker.Sync().revoked, IsEmpty());
  EXPECT_EQ(worker.Held(), "slow");
}

TEST_F(WantsTest, RetryBringsBackAllThatKeepsAVariantFromGoingOn) {
  SetPackages("x\ny\ntop: x y");
  Declare("m", {"top"});
  TestWorker worker("w1", farm(), 2);
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  ASSERT_TRUE(worker.End("x", Cause::kBuilderFailed).ok());
  ASSERT_TRUE(worker.End("y", Cause::kTimeout).ok());
  auto other = farm().Retry({.address = "top@x86_64-linux"}, "hash_mismatch");
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  auto some = farm().Retry({.address = "top@x86_64-linux"}, "timeout");
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->retried, 1);
  EXPECT_EQ(States(), "top:dependency_failed");
  EXPECT_EQ(StateOfEvaluation(), "settled") << "it still cannot go on";
  auto all = farm().Retry({.address = "top@x86_64-linux"}, "");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(States(), "top:pending");
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
}

TEST_F(WantsTest, AnAddressIsResolvedOrItsNearestIsNamed) {
  SetPackages("a\nb");
  Declare("m", {"a"});
  Declare("n", {"a", "b"});
  TriggerAndEvaluate("m");
  TriggerAndEvaluate("n");
  EXPECT_THAT(std::string(farm().Cancel({.address = "a@x86_64-linux"}).status().message()),
              HasSubstr("stands in several matrices: m/a@x86_64-linux, n/a@x86_64-linux"));
  EXPECT_THAT(std::string(farm().Cancel({.address = "bb@x86_64-linux"}).status().message()),
              HasSubstr("the nearest is 'b@x86_64-linux'"));
  EXPECT_EQ(farm().Cancel({.address = DrvOf("unknown")}).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(farm().Cancel({.address = "n/a@x86_64-linux"}).ok());
  EXPECT_EQ(States("n"), "a:cancelled b:ready");
  EXPECT_EQ(States("m"), "a:ready");
  EXPECT_TRUE(farm().Explain(DrvOf("b").substr(11, 32), {}).ok()) << "by hash part";
}

}  // namespace
}  // namespace hydrant
