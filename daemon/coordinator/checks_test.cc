// Checks: run where their GPU is, gate what is published, and are remembered by what they ran on.
#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kGpuCheck[] =
    "[[check]]\nname = \"cuda\"\nfor = \"*\"\ngpu = true\nenvironment = \"output\"\ncommand = [\"run\"]\ntimeout = \"5m\"\n";

class ChecksTest : public FarmTest {
 protected:
  ChecksTest() { gpu_.AddGpu("8.6"); }
  void SetUp() override {
    SetPackages("torch");
    plain_.Sync();
    gpu_.Sync();
  }
  void Connect(TestWorker& worker) {
    worker.Use(farm());
    worker.Sync();
  }
  void Build(const std::string& name) {
    for (TestWorker* worker : {&plain_, &gpu_}) {
      worker->Sync();
      if (!worker->held().contains(name)) continue;
      ASSERT_TRUE(Upload(name).ok());
      ASSERT_TRUE(worker->End(name, Cause::kNone).ok());
    }
  }

  TestWorker plain_{"plain", farm()}, gpu_{"gpu", farm()};
};

TEST_F(ChecksTest, ACheckRunsOnTheGpuBeforeAnythingIsPublished) {
  Declare("m", {"torch"}, kGpuCheck);
  TriggerAndEvaluate("m");
  Build("torch");
  EXPECT_EQ(States(), "torch:testing");
  EXPECT_EQ(StateOfPath("torch"), "staged");
  plain_.Sync();
  gpu_.Sync();
  EXPECT_EQ(plain_.Held(), "");
  ASSERT_EQ(gpu_.Held(), "check:cuda:torch");
  EXPECT_EQ(gpu_.Of("check:cuda:torch").lease.gpu_uuid, "gpu-gpu0");
  EXPECT_EQ(gpu_.Of("check:cuda:torch").limits.timeout, absl::Minutes(5));
  ASSERT_TRUE(gpu_.End("check:cuda:torch", Cause::kNone).ok());
  EXPECT_EQ(States(), "torch:cached");
  EXPECT_EQ(StateOfPath("torch"), "published");
  const CheckView check = View("torch").checks.at(0);
  EXPECT_EQ(check.outcome, "pass");
  EXPECT_EQ(check.architecture, "8.6");
  EXPECT_TRUE(check.simulated);
  EXPECT_EQ(ChannelAt(), 1);
}

TEST_F(ChecksTest, AFailedCheckFailsTheVariantKeepsItStagedAndIsRemembered) {
  Declare("m", {"torch"}, kGpuCheck);
  TriggerAndEvaluate("m");
  Build("torch");
  gpu_.Sync();
  ASSERT_TRUE(gpu_.End("check:cuda:torch", Cause::kNoKernelImage, "no kernel image").ok());
  EXPECT_EQ(States(), "torch:failed");
  EXPECT_EQ(View("torch").cause, "no_kernel_image");
  EXPECT_THAT(View("torch").message, HasSubstr("check cuda: no kernel image"));
  EXPECT_EQ(View("torch").checks.at(0).outcome, "fail");
  EXPECT_EQ(StateOfPath("torch"), "staged");
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(observer_.ended["failed"], 1);

  TriggerAndEvaluate("m");
  EXPECT_EQ(StateOfEvaluation(), "settled") << "remembered";
  EXPECT_EQ(States(), "torch:failed");
  ASSERT_TRUE(farm().Retry({.address = "torch@x86_64-linux"}, "no_kernel_image").ok());
  gpu_.Sync();
  ASSERT_TRUE(gpu_.End("check:cuda:torch", Cause::kNone).ok());
  EXPECT_EQ(States(), "torch:cached");
  EXPECT_EQ(StateOfEvaluation(), "settled");
}

TEST_F(ChecksTest, ALostDeviceIsTriedElsewhereAndIsNotRemembered) {
  TestWorker other("gpu2", farm());
  other.AddGpu("9.0");
  Connect(other);
  Declare("m", {"torch"}, kGpuCheck);
  TriggerAndEvaluate("m");
  Build("torch");
  TestWorker* holder = &gpu_;
  for (int tries = 0; tries < 5; ++tries) {
    gpu_.Sync();
    other.Sync();
    holder = gpu_.Held().empty() ? &other : &gpu_;
    ASSERT_TRUE(holder->End("check:cuda:torch", Cause::kDeviceLost, "fell off the bus").ok());
    if (tries == 0) {
      EXPECT_EQ((holder == &gpu_ ? other : gpu_).Sync().assignments.size(), 1u) << "elsewhere";
    }
  }
  EXPECT_EQ(States(), "torch:failed");
  EXPECT_EQ(View("torch").checks.at(0).outcome, "error");
  TriggerAndEvaluate("m");
  EXPECT_EQ(States(), "torch:testing") << "a new evaluation tries again";
}

TEST_F(ChecksTest, OneGpuRunsOneCheck) {
  SetPackages("a\nb");
  gpu_.offer().slots = 4;
  gpu_.Sync();
  Declare("m", {"a", "b"}, kGpuCheck);
  TriggerAndEvaluate("m");
  for (int i = 0; i < 2; ++i) {
    for (const char* name : {"a", "b"}) Build(name);
  }
  gpu_.Sync();
  EXPECT_EQ(gpu_.held().size(), 1u);
  EXPECT_EQ(States(), "a:testing b:testing");
  gpu_.AddGpu("8.6");
  gpu_.Sync();
  EXPECT_EQ(gpu_.held().size(), 2u);
}

TEST_F(ChecksTest, AdvisoryChecksAreShownAndHoldNothingUp) {
  Declare("m", {"torch"}, std::string("[gate]\nrequired = [\"torch@*\"]\nchecks = \"advisory\"\n") + kGpuCheck);
  TriggerAndEvaluate("m");
  Build("torch");
  EXPECT_EQ(States(), "torch:cached");
  EXPECT_EQ(ChannelAt(), 1);
  gpu_.Sync();
  ASSERT_TRUE(gpu_.End("check:cuda:torch", Cause::kWrongResult).ok());
  EXPECT_EQ(States(), "torch:cached");
  EXPECT_EQ(View("torch").checks.at(0).cause, "wrong_result");
}

TEST_F(ChecksTest, ACheckThatNoGpuHereCanRunWaits) {
  Declare("m", {"torch"}, std::string(kGpuCheck) + "gpu_architectures = [\"9.0\"]\n");
  TriggerAndEvaluate("m");
  Build("torch");
  for (int i = 0; i < 70; ++i) {
    plain_.Sync();
    gpu_.Sync();
    Pass(absl::Seconds(1));
  }
  EXPECT_EQ(States(), "torch:waiting");
  EXPECT_THAT(View("torch").message, HasSubstr("gpu offers no GPU of architecture 9.0 (it has 8.6)"));
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(farm().Totals().waiting.at("gpu 9.0"), 1);
  TestWorker newer("gpu2", farm());
  newer.AddGpu("9.0");
  newer.Sync();
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
  newer.Sync();
  ASSERT_TRUE(newer.End("check:cuda:torch", Cause::kNone).ok());
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(ChannelAt(), 1);
}

TEST_F(ChecksTest, ACheckWhoseEnvironmentFailsIsSkippedAndWaitsUntilThatIsRetried) {
  SetPackages("torch\ntorch-env: torch");
  Declare("m", {"torch"}, "[[check]]\nname = \"import\"\nfor = \"*\"\nenvironment = \"python\"\ncommand = [\"python\"]\n");
  TriggerAndEvaluate("m");
  Build("torch");
  plain_.Sync();
  gpu_.Sync();
  TestWorker& builder = plain_.Held().empty() ? gpu_ : plain_;
  ASSERT_TRUE(builder.End("torch-env", Cause::kBuilderFailed, "collision").ok());
  EXPECT_EQ(States(), "torch:waiting");
  EXPECT_THAT(View("torch").message, HasSubstr("check import was skipped: torch-env is failed"));
  EXPECT_EQ(StateOfEvaluation(), "settled");
  ASSERT_TRUE(farm().Retry({.matrix = "m"}, "builder_failed").ok());
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
  Build("torch-env");
  plain_.Sync();
  gpu_.Sync();
  TestWorker& tester = plain_.Held().empty() ? gpu_ : plain_;
  EXPECT_EQ(tester.Of("check:import:torch").check->environment_path, OutputOf("torch-env"));
  ASSERT_TRUE(tester.End("check:import:torch", Cause::kNone).ok());
  EXPECT_EQ(States(), "torch:cached");
}

TEST_F(ChecksTest, ACheckOfAFailedStepIsSkippedAndComesBackWithTheStep) {
  Declare("m", {"torch"}, kGpuCheck);
  TriggerAndEvaluate("m");
  plain_.Sync();
  for (int round = 0; round < 2; ++round) {
    plain_.Sync();
    ASSERT_TRUE(plain_.End("torch", Cause::kBuilderFailed).ok());
    EXPECT_EQ(View("torch").checks.at(0).outcome, "skipped");
    EXPECT_EQ(States(), "torch:failed");
    ASSERT_TRUE(farm().Retry({.address = DrvOf("torch")}, "").ok());
    EXPECT_EQ(View("torch").checks.at(0).outcome, "pending");
  }
  Build("torch");
  gpu_.Sync();
  EXPECT_EQ(gpu_.Held(), "check:cuda:torch");
}

TEST_F(ChecksTest, WhatAnotherMatrixPublishedStillFailsItsOwnCheck) {
  Declare("m", {"torch"}, kGpuCheck);
  Declare("n", {"torch"});
  TriggerAndEvaluate("m");
  TriggerAndEvaluate("n");
  Build("torch");
  EXPECT_EQ(States("n"), "torch:cached");
  EXPECT_EQ(StateOfPath("torch"), "published");
  EXPECT_EQ(States("m"), "torch:testing");
  gpu_.Sync();
  ASSERT_TRUE(gpu_.End("check:cuda:torch", Cause::kCheckFailed).ok());
  EXPECT_EQ(States("m"), "torch:failed");
}

TEST_F(ChecksTest, EachMeansTheGpusThatWereKnownThen) {
  TestWorker other("gpu2", farm());
  other.AddGpu("9.0");
  Connect(other);
  Declare("m", {"torch"}, std::string(kGpuCheck) + "gpu_architectures = \"each\"\n");
  TriggerAndEvaluate("m");
  EXPECT_EQ(View("torch").checks.size(), 2u);
  TestWorker late("gpu3", farm());
  late.AddGpu("7.0");
  Connect(late);
  Restart();
  EXPECT_EQ(View("torch").checks.size(), 2u) << "as recorded, not as many as there are GPUs now";
}

}  // namespace
}  // namespace hydrant
