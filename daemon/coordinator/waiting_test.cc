// Ready, but nobody here can do it: a state, with a reason, and never a failure.
#include "daemon/coordinator/waiting.h"

#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class WaitingTest : public FarmTest {
 protected:
  void PassWith(TestWorker& worker, absl::Duration time) {
    for (absl::Duration past; past < time; past += absl::Seconds(1)) {
      worker.Sync();
      Pass(absl::Seconds(1));
    }
  }
};

TEST_F(WaitingTest, AVariantWaitsOnlyAfterAWhileSettlesAndGoesOnWhenAWorkerComes) {
  SetPackages("special [kvm]\nabove: special");
  Declare("m", {"above"}, "[gate]\nrequired = [\"above@*\"]\n");
  TestWorker plain("w1", farm());
  plain.Sync();
  TriggerAndEvaluate("m");
  PassWith(plain, absl::Seconds(50));
  EXPECT_EQ(States(), "above:pending");
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
  PassWith(plain, absl::Seconds(20));
  EXPECT_EQ(States(), "above:waiting");
  EXPECT_THAT(View("above").message, HasSubstr("its input special waits: no worker can take it: w1 offers no feature kvm"));
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_FALSE(Newest().gate_passed);
  EXPECT_THAT(farm().Totals().waiting, ElementsAre(Pair("feature kvm", 1)));

  TestWorker able("w2", farm());
  able.offer().features = {"kvm"};
  able.Sync();
  EXPECT_EQ(StateOfEvaluation(), "evaluated") << "reopened";
  for (const char* name : {"special", "above"}) {
    able.Sync();
    ASSERT_TRUE(Upload(name).ok());
    TestWorker& holder = able.Held().empty() ? plain : able;
    holder.Sync();
    ASSERT_TRUE(holder.End(name, Cause::kNone).ok());
  }
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(ChannelAt(), 1);
  EXPECT_EQ(observer_.evaluated, 1) << "its duration is that of its first settling";
}

TEST_F(WaitingTest, ABusyWorkerIsNoReasonToWait) {
  SetPackages("a\nb");
  Declare("m", {"a", "b"});
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  PassWith(worker, absl::Seconds(120));
  EXPECT_THAT(States(), HasSubstr("ready"));
}

TEST_F(WaitingTest, WithoutAnyWorkerEverythingWaits) {
  SetPackages("a");
  Declare("m", {"a"});
  TriggerAndEvaluate("m");
  Pass(absl::Seconds(70));
  EXPECT_EQ(View("a").message, "no worker is connected");
  EXPECT_THAT(farm().Totals().waiting, ElementsAre(Pair("no worker", 1)));
}

TEST_F(WaitingTest, ALostWorkerCountsFromItsLoss) {
  SetPackages("a\nb");
  Declare("m", {"a", "b"});
  TestWorker worker("w1", farm());
  TriggerAndEvaluate("m");
  PassWith(worker, absl::Seconds(100));
  Pass(absl::Seconds(50));
  EXPECT_EQ(States(), "a:ready b:ready");
  Pass(absl::Seconds(60));
  EXPECT_EQ(States(), "a:waiting b:waiting");
}

TEST_F(WaitingTest, ADrainingWorkerIsNamedAsSuch) {
  SetPackages("a");
  Declare("m", {"a"});
  TestWorker worker("w1", farm());
  worker.Sync();
  ASSERT_TRUE(farm().Drain("w1", true).ok());
  TriggerAndEvaluate("m");
  PassWith(worker, absl::Seconds(70));
  EXPECT_EQ(View("a").message, "no worker can take it: w1 is draining");
  EXPECT_THAT(farm().Totals().waiting, ElementsAre(Pair("draining", 1)));
}

TEST_F(WaitingTest, ARestartIsNoReasonToReopenWhatSettledWaiting) {
  SetPackages("a [kvm]\nb: a");
  Declare("m", {"b"});
  TriggerAndEvaluate("m");
  Pass(absl::Seconds(70));
  ASSERT_EQ(StateOfEvaluation(), "settled");
  const int64_t commits = database_->commits();
  Restart();
  EXPECT_EQ(States(), "b:waiting");
  Pass(absl::Seconds(5));
  EXPECT_EQ(StateOfEvaluation(), "settled");
  EXPECT_EQ(database_->commits(), commits);
  TestWorker able("w2", farm());
  able.offer().features = {"kvm"};
  able.Sync();
  EXPECT_EQ(StateOfEvaluation(), "evaluated");
}

TEST_F(WaitingTest, TheKindOfWhatIsLackingIsTheSameForAllThatLackIt) {
  FarmState state(absl::Seconds(20), {});
  const auto kind = [&](const Demand& demand) { return WhyNobody(state, demand).value_or(Nobody{}).kind; };
  EXPECT_EQ(kind({}), "no worker");
  for (int i = 0; i < 8; ++i) {
    WorkerOffer offer{.systems = {"x86_64-linux"}};
    if (i == 0) offer.features = {"kvm"};
    if (i == 1) offer.gpus = {{.uuid = "g", .architecture = "8.6"}};
    ASSERT_TRUE(state.workers.Seen(absl::StrCat("w", i), "1", offer, false, clock_.Now()).ok());
  }
  EXPECT_EQ(kind({.system = "aarch64-linux"}), "system aarch64-linux");
  EXPECT_EQ(kind({.features = {"big-parallel"}}), "feature big-parallel");
  EXPECT_EQ(kind({.gpu = true, .gpu_architecture = "9.0"}), "gpu 9.0");
  EXPECT_EQ(kind({.features = {"kvm"}, .gpu = true}), "all of it in one worker");
  EXPECT_EQ(kind({.features = {"kvm"}}), "");
  EXPECT_THAT(WhyNobody(state, {.system = "aarch64-linux"})->why, HasSubstr("; and 3 more"));
}

}  // namespace
}  // namespace hydrant
