// From a trigger to a moved channel, and what keeps it from moving.
#include "daemon/coordinator/coordinator.h"

#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kChain[] = "base\nleft: base\nright: base\ntop: left right";

class CoordinatorTest : public FarmTest {
 protected:
  // Everything that `worker` is given, until nothing is left; `bad` fail by their own fault.
  void BuildAll(TestWorker& worker, const std::set<std::string>& bad = {}) {
    for (worker.Sync(); !worker.Held().empty(); worker.Sync()) {
      for (const auto& [what, assignment] : worker.held()) {
        if (!bad.contains(what)) {
          EXPECT_TRUE(Upload(what).ok());
        }
        EXPECT_TRUE(worker.End(what, bad.contains(what) ? Cause::kBuilderFailed : Cause::kNone, "it broke").ok());
      }
    }
  }
};

TEST_F(CoordinatorTest, AMatrixIsBuiltInputsFirstPublishedAndTheChannelMoves) {
  SetPackages(kChain);
  Declare("m", {"base", "top"}, "[gate]\nrequired = [\"top@*\"]\n");
  TestWorker worker("w1", farm());
  worker.Sync();
  const EvaluationId id = Trigger("m");
  EXPECT_EQ(States(), "base:pending top:pending");
  Evaluate();
  EXPECT_EQ(States(), "base:building top:pending");
  worker.Sync();
  EXPECT_EQ(worker.Held(), "base");
  ASSERT_TRUE(Upload("base").ok());
  ASSERT_TRUE(worker.End("base", Cause::kNone).ok());
  EXPECT_EQ(States(), "base:cached top:pending");
  EXPECT_EQ(StateOfPath("base"), "published");
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
  BuildAll(worker);
  EXPECT_EQ(States(), "base:cached top:cached");
  EXPECT_EQ(StateOfPath("left"), "published") << "with the closure";
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_TRUE(Newest().gate_passed);
  EXPECT_EQ(Newest().revision, "r1");
  EXPECT_EQ(ChannelAt(), id.value);
  EXPECT_EQ(observer_.evaluated, 1);
}

TEST_F(CoordinatorTest, AnAssignmentTellsWhatItsBuilderNeeds) {
  SetPackages(kChain);
  Declare("m", {"left"}, "[limits]\ntimeout = \"20m\"\nmax_output = \"1GB\"\n[[limits.for]]\npackage = \"left\"\nmemory = \"2GB\"\n");
  TestWorker worker("w1", farm());
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  EXPECT_EQ(worker.Of("base").limits.timeout, absl::Minutes(20)) << "a dependency has the matrix's";
  EXPECT_EQ(worker.Of("base").limits.memory, 0u);
  ASSERT_TRUE(Upload("base").ok());
  ASSERT_TRUE(worker.End("base", Cause::kNone).ok());
  worker.Sync();
  EXPECT_THAT(worker.Of("left").input_paths, ElementsAre(OutputOf("base")));
  EXPECT_EQ(worker.Of("left").limits.memory, 2'000'000'000u);
  EXPECT_EQ(worker.Of("left").derivation->parsed, packages_.Of("left"));
  EXPECT_FALSE(worker.Of("left").needs_closure);
}

TEST_F(CoordinatorTest, AFailureFailsItsDependentsByNameAndTheChannelStays) {
  SetPackages("base\nbad: base\nabove: bad\ngood");
  Declare("m", {"bad", "above", "good"}, "[gate]\nrequired = [\"above@*\"]\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  BuildAll(worker, {"bad"});
  EXPECT_EQ(States(), "bad:failed above:dependency_failed good:cached");
  EXPECT_EQ(View("bad").cause, "builder_failed");
  EXPECT_EQ(View("bad").message, "it broke");
  EXPECT_EQ(View("above").root, DrvOf("bad"));
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_FALSE(Newest().gate_passed);
  EXPECT_EQ(ChannelAt(), 0);
  auto explained = farm().Explain("above@x86_64-linux", {});
  ASSERT_TRUE(explained.ok());
  EXPECT_THAT(explained->chain, ElementsAre(DrvOf("above"), DrvOf("bad")));
}

TEST_F(CoordinatorTest, APackagesFailureIsRememberedByTheNextEvaluationUntilItIsRetried) {
  SetPackages("bad\nabove: bad");
  Declare("m", {"above"});
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  BuildAll(worker, {"bad"});
  TriggerAndEvaluate("m");
  EXPECT_EQ(StateOfEvaluation(), "settled") << "without another attempt";
  EXPECT_EQ(States(), "above:dependency_failed");
  auto retried = farm().Retry({.matrix = "m"}, "");
  ASSERT_TRUE(retried.ok()) << retried.status();
  EXPECT_EQ(retried->retried, 1);
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
  BuildAll(worker);
  EXPECT_EQ(States(), "above:cached");
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(ChannelAt(), 2) << "no [gate]: every settled evaluation passes";
}

TEST_F(CoordinatorTest, WhatTheFarmFailedIsTriedAgainLaterElsewhereAndByANewEvaluation) {
  SetPackages("flaky");
  Declare("m", {"flaky"});
  TestWorker one("w1", farm()), two("w2", farm());
  one.Sync();
  TriggerAndEvaluate("m");
  one.Sync();
  ASSERT_TRUE(one.End("flaky", Cause::kOutOfMemory).ok());
  EXPECT_EQ(States(), "flaky:pending");
  two.Sync();
  Pass(absl::Seconds(6));
  EXPECT_EQ(one.Sync().assignments.size(), 0u);
  EXPECT_EQ(two.Sync().assignments.size(), 1u);
  for (int i = 0; i < 4; ++i) {
    TestWorker& holder = one.Held().empty() ? two : one;
    ASSERT_TRUE(holder.End("flaky", Cause::kOutOfMemory).ok());
    for (int s = 0; s < 100 && one.Held().empty() && two.Held().empty(); ++s) {
      Pass(absl::Seconds(1));
      one.Sync();
      two.Sync();
    }
  }
  EXPECT_EQ(States(), "flaky:failed") << "no try is left";
  TriggerAndEvaluate("m");
  EXPECT_EQ(States(), "flaky:building");
}

TEST_F(CoordinatorTest, TwoVariantsOfOneDerivationAreBuiltOnceAndPublishedAtOnce) {
  SetPackages("same");
  Declare("m", {"same"}, "[axes.more]\nhue = [\"red\", \"blue\"]\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  BuildAll(worker);
  EXPECT_EQ(States(), "same:cached same:cached");
  EXPECT_EQ(observer_.ended["succeeded"], 1);
}

TEST_F(CoordinatorTest, WhatACacheUpstreamHoldsIsCachedWithoutWork) {
  SetPackages(kChain);
  presence_.Hold(OutputOf("top"));
  Declare("m", {"top", "left"});
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  EXPECT_EQ(View("top").held_by, FakePresence::kCache);
  BuildAll(worker);
  EXPECT_EQ(States(), "top:cached left:cached");
  EXPECT_EQ(StateOfPath("top"), "absent");
  EXPECT_EQ(farm().StatesOf({DrvOf("right")}).size(), 0u) << "nothing below it became a step";
}

TEST_F(CoordinatorTest, VariantsThatDoNotEvaluateAreImpossibleAndHoldNothingUp) {
  SetPackages("good");
  Declare("m", {"good", "missing"}, "[gate]\nrequired = [\"good@*\"]\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  BuildAll(worker);
  EXPECT_EQ(States(), "good:cached missing:impossible");
  EXPECT_EQ(View("missing").cause, "missing_attribute");
  EXPECT_EQ(ChannelAt(), 1);
}

TEST_F(CoordinatorTest, AnEvaluatorsDeathLeavesTheEvaluationIncompleteAndTheChannelWhereItWas) {
  SetPackages("good\nbig");
  dying_ = {"big"};
  Declare("m", {"good", "big"}, "[gate]\nrequired = [\"good@*\"]\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  BuildAll(worker);
  EXPECT_EQ(States(), "good:cached big:failed");
  EXPECT_EQ(StateOfEvaluation(), "incomplete");
  EXPECT_EQ(Newest().message, "what becomes of 1 of 2 variants is not known, since an evaluator died or its answer was of no use: big@x86_64-linux");
  EXPECT_FALSE(Newest().gate_passed);
  EXPECT_EQ(ChannelAt(), 0);
  dying_.clear();
  auto retried = farm().Retry({.matrix = "m"}, "");
  ASSERT_TRUE(retried.ok()) << retried.status();
  EXPECT_EQ(retried->evaluation.value, 2) << "evaluated again";
}

TEST_F(CoordinatorTest, AnEvaluationThatCouldNotBeginFailsWithItsReason) {
  SetPackages("good");
  Declare("m", {"good"});
  const EvaluationId id = Trigger("m");
  ASSERT_TRUE(farm().TakeRequested().ok());
  ASSERT_TRUE(farm().FinishEvaluation(id, absl::NotFoundError("source path /src: no such folder")).ok());
  EXPECT_EQ(StateOfEvaluation(), "failed");
  EXPECT_EQ(Newest().message, "source path /src: no such folder");
  EXPECT_EQ(States(), "good:failed");
  auto retried = farm().Retry({.matrix = "m"}, "");
  ASSERT_TRUE(retried.ok()) << retried.status();
  EXPECT_EQ(retried->evaluation.value, 2);
}

TEST_F(CoordinatorTest, AnEvaluatorThatStopsHalfwayLeavesTheRestUnknown) {
  SetPackages("first\nsecond");
  Declare("m", {"first", "second"});
  auto task = farm().TakeRequested();
  ASSERT_FALSE(task->has_value());
  const EvaluationId id = Trigger("m");
  task = farm().TakeRequested();
  ASSERT_TRUE(farm().AddOutcomes(id, Outcomes(**task, {0})).ok());
  ASSERT_TRUE(farm().FinishEvaluation(id, absl::InternalError("no Nix")).ok());
  EXPECT_EQ(States(), "first:ready second:failed");
  EXPECT_EQ(View("second").cause, "unknown");
}

TEST_F(CoordinatorTest, OnlySomeVariantsAreEvaluatedAndTheirGateIsJudgedButNoChannelMoves) {
  SetPackages("left\nright");
  Declare("m", {"left", "right"}, "[gate]\nrequired = [\"left@*\", \"right@*\"]\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m", "left@*");
  BuildAll(worker);
  EXPECT_EQ(States(), "left:cached");
  EXPECT_TRUE(Newest().gate_passed) << "right@* selects something in the matrix";
  EXPECT_EQ(ChannelAt(), 0);
  auto none = farm().Trigger({.matrix = "m", .only = "middle@*"});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CoordinatorTest, AGateWhoseGlobSelectsNothingToBuildDoesNotPass) {
  SetPackages("good\nother");
  Declare("m", {"good", "other"},
          "[gate]\nrequired = [\"other@*\"]\n[[exclude]]\npackage = \"other\"\nreason = \"not here\"\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  BuildAll(worker);
  EXPECT_EQ(States(), "good:cached other:impossible");
  EXPECT_FALSE(Newest().gate_passed);
}

TEST_F(CoordinatorTest, TwoEvaluationsThatSettleTogetherMoveTheChannelToTheNewer) {
  SetPackages("good");
  Declare("m", {"good"}, "[gate]\nrequired = [\"good@*\"]\n");
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  TriggerAndEvaluate("m");
  BuildAll(worker);
  EXPECT_EQ(farm().Evaluations("m")->back().state, EvaluationState::kSettled);
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(ChannelAt(), 2);
}

TEST_F(CoordinatorTest, TheHigherPriorityIsServedFirst) {
  SetPackages("slow\nurgent-input\nurgent: urgent-input");
  Declare("a", {"slow"});
  Declare("b", {"urgent"});
  TriggerAndEvaluate("a");
  ASSERT_TRUE(farm().Trigger({.matrix = "b", .priority = 5}).ok());
  Evaluate();
  TestWorker worker("w1", farm());
  worker.Sync();
  EXPECT_EQ(worker.Held(), "urgent-input");
}

TEST_F(CoordinatorTest, APublicationThatFailsIsTriedAgainAndSaysWhy) {
  SetPackages("good");
  Declare("m", {"good"});
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  daemon_->signer.FailWith(absl::UnavailableError("the key is away"));
  BuildAll(worker);
  EXPECT_EQ(States(), "good:building");
  EXPECT_THAT(View("good").message, AllOf(HasSubstr("not published"), HasSubstr("the key is away")));
  Pass(absl::Seconds(60));
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
  daemon_->signer.FailWith(absl::OkStatus());
  Pass(absl::Seconds(60));
  EXPECT_EQ(States(), "good:cached");
  EXPECT_EQ(StateOfEvaluation(), "settled");
}

TEST_F(CoordinatorTest, ADerivationForAGpuTravelsWithItsClosure) {
  SetPackages("held\nbase: held\nsample [cuda]: base");
  presence_.Hold(OutputOf("base"));
  Declare("m", {"sample"});
  TestWorker worker("w1", farm());
  worker.offer().features = {"cuda"};
  worker.AddGpu("8.6");
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  ASSERT_EQ(worker.Held(), "sample");
  const Assignment& assignment = worker.Of("sample");
  EXPECT_TRUE(assignment.needs_closure);
  EXPECT_EQ(assignment.lease.gpu_uuid, "w1-gpu0");
  auto files = farm().DerivationsOf(assignment.lease.attempt, assignment.lease.token, {DrvOf("held")});
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].path, DrvOf("base"));
  EXPECT_EQ((*files)[1].path, DrvOf("sample"));
  EXPECT_THAT((*files)[1].references, ElementsAre(DrvOf("base")));
}

TEST_F(CoordinatorTest, AnOldStepThatACacheHasByNowIsNotBuilt) {
  SetPackages("bad");
  Declare("m", {"bad"});
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  BuildAll(worker, {"bad"});
  presence_.Hold(OutputOf("bad"));
  TriggerAndEvaluate("m");
  EXPECT_EQ(States(), "bad:cached");
}

TEST_F(CoordinatorTest, ANewStepWhoseInputFailedForAnotherMatrixFailsAtOnce) {
  SetPackages("base\nside\ntop: base side");
  Declare("m", {"top"});
  Declare("n", {"base"});
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("n");
  BuildAll(worker, {"base"});
  TriggerAndEvaluate("m");
  EXPECT_EQ(States("m"), "top:dependency_failed");
  EXPECT_EQ(View("top", "m").root, DrvOf("base"));
  EXPECT_EQ(StateOfEvaluation("m"), "settled");
}

TEST_F(CoordinatorTest, AMatrixIsAppliedOnceReplacedAndGuardedByItsFolder) {
  MatrixTextRecord text{.toml = "name = \"f\"\nsource.path = \"/src\"\naxes.package = [\"a\"]\n", .directory = "/", .file = "f.toml"};
  EXPECT_FALSE(farm().Apply(text, true)->replaced);
  const int64_t commits = database_->commits();
  EXPECT_TRUE(farm().Apply(text, true)->replaced);
  EXPECT_EQ(database_->commits(), commits) << "the same again is nothing";
  text.toml += "reason = \"other\"\n";
  EXPECT_EQ(farm().Apply(text, false).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(farm().Apply(text, true)->replaced);
  EXPECT_GT(database_->commits(), commits);
  const absl::Status unknown = farm().Trigger({.matrix = "ff"}).status();
  EXPECT_EQ(unknown.message(), "there is no matrix 'ff'; the nearest is 'f'");
}

TEST_F(CoordinatorTest, TheGridShowsWhatRunsForItsOwnMatrix) {
  SetPackages("base\na: base\nb");
  Declare("m", {"a"});
  Declare("n", {"b"});
  TestWorker worker("w1", farm(), 2);
  worker.Sync();
  TriggerAndEvaluate("m");
  TriggerAndEvaluate("n");
  const GridView grid = *farm().Grid("m", {});
  ASSERT_EQ(grid.running.size(), 1u);
  EXPECT_EQ(grid.running[0].what, "base");
  EXPECT_EQ(grid.totals.at("pending"), 1);
  EXPECT_THAT(farm().Totals().waiting, IsEmpty());
}

}  // namespace
}  // namespace hydrant
