// What a plan finds through source, evaluator, closure and presence, and what it would cost.
#include "daemon/coordinator/evaluation_run_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST_F(EvaluationRunTest, APlanSaysWhatWouldBeBuiltAndRecordsNothing) {
  Write("base\ntop: base\nheld\nbad", {"top", "held", "bad"});
  presence_.Hold(OutputOf("held"));
  DeclareHere({"top", "held", "bad", "missing"});
  const int64_t commits = database_->commits();
  auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::string states;
  for (const PlannedVariant& variant : plan->variants) absl::StrAppend(&states, variant.state, " ");
  EXPECT_EQ(states, "pending cached pending impossible ");
  EXPECT_EQ(plan->build, 3);
  EXPECT_EQ(plan->present, 1);
  EXPECT_THAT(plan->present_in, ElementsAre(Pair(FakePresence::kCache, 1)));
  EXPECT_EQ(plan->shared, 0);
  EXPECT_EQ(database_->commits(), commits);
  EXPECT_THAT(evaluator_.roots(), IsEmpty());
}

TEST_F(EvaluationRunTest, APlanCountsNoStepThatOnlyARefusedVariantWouldHave) {
  Write("torch: cuda_cudart-12.9.79 magma\nmagma: cuda_cudart-11.8.89\nplain: cuda_cudart-12.9.79\n"
        "cuda_cudart-12.9.79\ncuda_cudart-11.8.89", {"torch", "plain"});
  DeclareHere({"torch", "plain"}, "cuda = [\"12.9\"]\n[audit]\nrefuse = [\"two_cuda_releases\"]\n");
  auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->totals, ElementsAre(Pair("failed", 1), Pair("pending", 1)));
  EXPECT_EQ(plan->build, 2);
  EXPECT_EQ(plan->forecast.unknown_steps, 2);
}

TEST_F(EvaluationRunTest, APlanKnowsWhatFailedBefore) {
  Write("bad", {"bad"});
  DeclareHere({"bad"});
  TestWorker worker("w1", farm());
  worker.Sync();
  RunOne();
  worker.Sync();
  ASSERT_TRUE(worker.End("bad", Cause::kBuilderFailed).ok());
  auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_);
  EXPECT_EQ(plan->variants[0].state, "failed");
  EXPECT_EQ(plan->variants[0].cause, Cause::kBuilderFailed);
  EXPECT_EQ(plan->variants[0].root, DrvOf("bad"));
  EXPECT_EQ(plan->build, 0);
}

// The same tree after its steps were built once: what is known of them.
class PlanCostTest : public EvaluationRunTest {
 protected:
  // Runs the matrix to its end; each step takes a second, its output's NAR has 20 bytes.
  void BuildAll(TestWorker& worker) {
    RunOne();
    for (worker.Sync(); !worker.Held().empty(); worker.Sync()) {
      for (const auto& [name, assignment] : worker.held()) {
        if (!assignment.check) {
          ASSERT_TRUE(Upload(name).ok());
        }
        ASSERT_TRUE(worker.End(name, Cause::kNone).ok()) << name;
      }
    }
  }
  PlanView PlanOf(const Declared* extended = nullptr) {
    auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_, extended);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : PlanView();
  }
};

TEST_F(PlanCostTest, AfterOneRunNothingIsToBuildAndAnotherVersionHasAPrice) {
  Write("base-1\ntop-1: base-1\nbase-2\ntop-2: base-2\nnew-1", {"top-1", "top-2", "new-1"});
  DeclareHere({"top-1"});
  TestWorker worker("w1", farm(), 2);
  const PlanView before = PlanOf();
  EXPECT_EQ(before.forecast.unknown_steps, 2);
  EXPECT_EQ(before.forecast.workers, 0);
  BuildAll(worker);
  const PlanView after = PlanOf();
  EXPECT_EQ(after.build, 0);
  EXPECT_THAT(after.totals, ElementsAre(Pair("cached", 1)));
  EXPECT_THAT(after.present_in, ElementsAre(Pair("ours", 1)));

  DeclareHere({"top-1", "top-2", "new-1"});
  for (int life = 0; life < 2; ++life) {
    const PlanView more = PlanOf();
    EXPECT_EQ(more.build, 3);
    EXPECT_EQ(more.forecast.unknown_steps, 1) << "new-1";
    EXPECT_EQ(more.forecast.core_time, absl::Seconds(2));
    EXPECT_EQ(more.forecast.bytes, 40);
    EXPECT_EQ(more.forecast.unmeasured_cpu, 2);
    EXPECT_EQ(more.forecast.path, life == 0 ? absl::Seconds(2) : absl::ZeroDuration()) << "nobody is connected then";
    Restart();  // history is the record's
    MakeRun(closure_);
  }
}

TEST_F(PlanCostTest, ChecksCountGpuMinutesUntilTheyAreDecided) {
  Write("torch-1\ntorch-2", {"torch-1", "torch-2"});
  DeclareHere({"torch-1", "torch-2"}, "[[check]]\nname = \"cuda\"\nfor = \"*\"\ngpu = true\ncommand = [\"true\"]\n");
  TestWorker worker("w1", farm(), 2);
  worker.AddGpu("8.6");
  worker.Sync();
  const PlanView before = PlanOf();
  EXPECT_EQ(before.forecast.checks, 2);
  EXPECT_EQ(before.forecast.unknown_checks, 2);
  BuildAll(worker);
  EXPECT_EQ(PlanOf().forecast.checks, 0);

  Write("torch-3", {"torch-3"});
  DeclareHere({"torch-3"}, "[[check]]\nname = \"cuda\"\nfor = \"*\"\ngpu = true\ncommand = [\"true\"]\n");
  const PlanView next = PlanOf();
  EXPECT_EQ(next.forecast.unknown_checks, 0);
  EXPECT_EQ(next.forecast.gpu_time, absl::Seconds(1));
  EXPECT_EQ(next.forecast.path, absl::Seconds(2)) << "the check comes after its step";
}

TEST_F(PlanCostTest, WhatBuildsFetchIsCountedOncePerPath) {
  Write("ours-1\ntheirs-1\nsilent-1\na-1: ours-1 theirs-1 silent-1\nb-1: ours-1", {"ours-1", "a-1", "b-1"});
  DeclareHere({"ours-1"});
  TestWorker worker("w1", farm());
  BuildAll(worker);
  presence_.Hold(OutputOf("theirs-1"), 300);
  presence_.Hold(OutputOf("silent-1"));
  DeclareHere({"a-1", "b-1"});
  const PlanView plan = PlanOf();
  EXPECT_EQ(plan.build, 2);
  EXPECT_THAT(plan.present_in, ElementsAre(Pair(FakePresence::kCache, 2), Pair("ours", 1)));
  EXPECT_EQ(plan.downloads, 3);
  EXPECT_EQ(plan.download_bytes, 10 + 300);
  EXPECT_EQ(plan.unknown_downloads, 1);
}

TEST_F(PlanCostTest, OneMoreValueCostsWhatOnlyItsVariantsNeed) {
  Write("base-1\ntop-1: base-1\nside-1: base-1\nlow-1\nhigh-1: low-1 base-1", {"top-1", "side-1", "high-1"});
  DeclareHere({"top-1"});
  TestWorker worker("w1", farm());
  BuildAll(worker);
  Write("base-2\ntop-2: base-2\nside-1: base-2\nlow-1\nhigh-1: low-1 base-2", {"top-2", "side-1", "high-1"});
  DeclareHere({"top-2", "missing"});
  const auto extended = Extend(*farm().DeclaredOf("m"), {"package=side-1", "package=high-1", "package=absent"}, "x86_64-linux");
  ASSERT_TRUE(extended.ok()) << extended.status();
  const PlanView plan = PlanOf(extended->get());
  EXPECT_THAT(plan.totals, ElementsAre(Pair("impossible", 1), Pair("pending", 1)));
  EXPECT_EQ(plan.build, 2);
  EXPECT_EQ(plan.forecast.core_time, absl::Seconds(2));
  const PlanAddition& addition = *plan.addition;
  EXPECT_EQ(addition.with.build, 5);
  EXPECT_EQ(addition.difference.build, 3) << "base-2 is built anyway";
  EXPECT_THAT(addition.difference.totals, ElementsAre(Pair("impossible", 1), Pair("pending", 2)));
  EXPECT_EQ(addition.difference.forecast.steps, 3);
  EXPECT_EQ(addition.difference.forecast.unknown_steps, 3);
  ASSERT_EQ(addition.variants.size(), 3u);
  EXPECT_EQ(addition.variants[2].record.cause, Cause::kMissingAttribute);
}

TEST_F(PlanCostTest, OneMoreValueCostsNothingWhereItIsRefused) {
  Write("torch: cuda_cudart-12.9.79 magma\nmagma: cuda_cudart-11.8.89\nplain: cuda_cudart-12.9.79\n"
        "cuda_cudart-12.9.79\ncuda_cudart-11.8.89", {"torch", "plain"});
  DeclareHere({"plain"}, "cuda = [\"12.9\"]\n[audit]\nrefuse = [\"two_cuda_releases\"]\n");
  const auto extended = Extend(*farm().DeclaredOf("m"), {"package=torch"}, "x86_64-linux");
  ASSERT_TRUE(extended.ok()) << extended.status();
  const PlanView plan = PlanOf(extended->get());
  ASSERT_TRUE(plan.addition.has_value());
  EXPECT_EQ(plan.build, 2);
  EXPECT_EQ(plan.addition->difference.build, 0);
  EXPECT_EQ(plan.addition->difference.forecast.unknown_steps, 0);
}

TEST_F(PlanCostTest, AValueThatCannotBeAddedIsToldBeforeAnyWork) {
  Write("a", {"a"});
  DeclareHere({"a"});
  const auto extended = Extend(*farm().DeclaredOf("m"), {"cuda=13.1"}, "x86_64-linux");
  EXPECT_THAT(std::string(extended.status().message()), HasSubstr("does not declare the axis 'cuda'"));
}

}  // namespace
}  // namespace hydrant
