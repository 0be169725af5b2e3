// What users and metrics ask.
#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class QueriesTest : public FarmTest {
 protected:
  void SetUp() override {
    SetPackages("bad\nabove: bad\ngood");
    Declare("m", {"above", "good"}, "[[check]]\nname = \"smoke\"\nfor = \"good\"\nenvironment = \"output\"\ncommand = [\"run\"]\n");
    worker_.Sync();
    TriggerAndEvaluate("m");
    worker_.Sync();
  }
  TestWorker worker_{"w1", farm(), 2};
};

TEST_F(QueriesTest, AnAddressesLogIsOfWhatOneWouldAskAbout) {
  EXPECT_THAT(std::string(farm().AttemptOf("above@x86_64-linux", {}).status().message()),
              HasSubstr("nothing of above@x86_64-linux has been attempted here"));
  const AttemptId bad = worker_.Of("bad").lease.attempt, good = worker_.Of("good").lease.attempt;
  EXPECT_TRUE(farm().IsLive(bad));
  ASSERT_TRUE(worker_.End("bad", Cause::kBuilderFailed).ok());
  EXPECT_FALSE(farm().IsLive(bad));
  EXPECT_EQ(farm().AttemptOf("above@x86_64-linux", {})->lease.attempt, bad) << "the root's";
  EXPECT_EQ(farm().AttemptOf("good@x86_64-linux", {})->lease.attempt, good);
  ASSERT_TRUE(Upload("good").ok());
  ASSERT_TRUE(worker_.End("good", Cause::kNone).ok());
  worker_.Sync();
  const AttemptId check = worker_.Of("check:smoke:good").lease.attempt;
  EXPECT_EQ(farm().AttemptOf("good@x86_64-linux", {})->lease.attempt, good);
  ASSERT_TRUE(worker_.End("check:smoke:good", Cause::kCheckFailed).ok());
  EXPECT_EQ(farm().AttemptOf("good@x86_64-linux", {})->lease.attempt, check) << "the failed check's";
  EXPECT_EQ(farm().AttemptOf(absl::StrCat("a", bad.value), {})->lease.subject.derivation, DrvOf("bad"));
  EXPECT_EQ(farm().AttemptOf(DrvOf("good"), {})->lease.attempt, good);
  EXPECT_EQ(*farm().LogOf(DrvOf("good")), good);
  EXPECT_EQ(farm().LogOf(DrvOf("above")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(QueriesTest, AnExplanationNamesTheReasonAndWhatItWaitsFor) {
  ExplainView view = *farm().Explain("above@x86_64-linux", {});
  EXPECT_EQ(view.step_state, "blocked");
  EXPECT_THAT(view.waits_for, ElementsAre(DrvOf("bad")));
  EXPECT_EQ(view.reason, "it waits for inputs that are not built yet");
  ASSERT_TRUE(worker_.End("bad", Cause::kBuilderFailed, "no rule to make target").ok());
  view = *farm().Explain("above@x86_64-linux", {});
  EXPECT_THAT(view.reason, HasSubstr("no rule to make target"));
  EXPECT_THAT(view.chain, ElementsAre(DrvOf("above"), DrvOf("bad")));
  ASSERT_EQ(view.attempts.size(), 1u);
  EXPECT_EQ(view.attempts[0].result.cause, Cause::kBuilderFailed);
}

TEST_F(QueriesTest, AnExplanationOfWhatIsReadySaysWhichRuleEachWorkerFails) {
  SetPackages("special [kvm]");
  Declare("n", {"special"});
  TriggerAndEvaluate("n");
  const ExplainView view = *farm().Explain("special@x86_64-linux", {});
  EXPECT_THAT(view.workers, ElementsAre(Pair("w1", "offers no feature kvm")));
  EXPECT_THAT(view.reason, HasSubstr("no worker can take it"));
}

TEST_F(QueriesTest, TotalsCountTheNewestEvaluationWorkersAndTheChannelsLag) {
  FarmTotals totals = farm().Totals();
  EXPECT_EQ(totals.variants["m"]["pending"], 1);
  EXPECT_EQ(totals.variants["m"]["building"], 1);
  EXPECT_EQ(totals.workers["connected"], 1);
  EXPECT_EQ(totals.slots["w1"], std::pair(int64_t{2}, int64_t{0}));
  EXPECT_FALSE(totals.channel_lag_since.contains("m")) << "nowhere yet";
  for (const char* name : {"bad", "good"}) {
    ASSERT_TRUE(Upload(name).ok());
    ASSERT_TRUE(worker_.End(name, Cause::kNone).ok());
  }
  for (worker_.Sync(); !worker_.Held().empty(); worker_.Sync()) {
    const std::string what = worker_.held().begin()->first;
    ASSERT_TRUE(Upload(what).ok());
    ASSERT_TRUE(worker_.End(what, Cause::kNone).ok());
  }
  EXPECT_EQ(States(), "above:cached good:cached");
  totals = farm().Totals();
  EXPECT_EQ(totals.channel_lag_since["m"], absl::InfiniteFuture());
  EXPECT_EQ(totals.evaluated_at["m"], clock_.Now());
  clock_.Advance(absl::Hours(1));
  Trigger("m", "good@*");
  EXPECT_EQ(farm().Totals().channel_lag_since["m"], absl::InfiniteFuture()) << "a part of the matrix moves no channel";
  Trigger("m");
  EXPECT_EQ(farm().Totals().channel_lag_since["m"], clock_.Now());
}

TEST_F(QueriesTest, EveryChangeIsAnnounced) {
  const uint64_t seen = farm().Version();
  EXPECT_EQ(farm().AwaitChange(seen, absl::ZeroDuration()), seen);
  ASSERT_TRUE(worker_.End("bad", Cause::kBuilderFailed).ok());
  EXPECT_GT(farm().AwaitChange(seen, absl::InfiniteDuration()), seen);
}

TEST_F(QueriesTest, AnExplanationNamesTheVariantsOfTheSameStep) {
  SetPackages("good\nother");
  Declare("m", {"good", "other"}, "cuda = [\"12.6\", \"12.9\"]\n");
  TriggerAndEvaluate("m");
  const auto explained = farm().Explain("good@cuda12.9-x86_64-linux", {});
  ASSERT_TRUE(explained.ok()) << explained.status();
  EXPECT_THAT(explained->shared_with, testing::ElementsAre("good@cuda12.6-x86_64-linux"));
  EXPECT_EQ(explained->shared_with_count, 1);
}

}  // namespace
}  // namespace hydrant
