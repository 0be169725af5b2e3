#include "daemon/coordinator/backlog.h"

#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::IsEmpty;

class BacklogTest : public FarmTest {
 protected:
  // A worker of one slot builds tool-1 in a second, and then has tool-2, which is alike; others wait.
  void SetUp() override {
    SetPackages("tool-1\ntool-2\nnew-1: tool-2");
    Declare("m", {"tool-1"});
    worker_.Sync();
    TriggerAndEvaluate("m");
    worker_.Sync();
    ASSERT_TRUE(Upload("tool-1").ok());
    ASSERT_TRUE(worker_.End("tool-1", Cause::kNone).ok());
    Declare("n", {"tool-2", "new-1"}, "[[check]]\nname = \"smoke\"\nfor = \"new-1\"\nenvironment = \"output\"\ncommand = [\"run\"]\n");
    TriggerAndEvaluate("n");
    worker_.Sync();
  }
  std::vector<Backlog> Pieces() { return farm().BasisOf({}).backlog; }
  TestWorker worker_{"w1", farm(), 1};
};

TEST_F(BacklogTest, WhatRunsComesFirstWithWhatIsLeftOfIt) {
  const Lease lease = worker_.Of("tool-2").lease;
  ASSERT_TRUE(farm().ReportStage(lease.attempt, lease.token, AttemptStage::kBuilding).ok());
  clock_.Advance(absl::Milliseconds(400));
  const std::vector<Backlog> pieces = Pieces();
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].id, DrvOf("tool-2"));
  EXPECT_TRUE(pieces[0].running);
  EXPECT_EQ(pieces[0].time, absl::Milliseconds(600));
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(Pieces()[0].time, absl::ZeroDuration()) << "it takes longer than its like";
}

TEST_F(BacklogTest, WhatWaitsIsThereWhetherItsLikeRanOrNot) {
  const std::vector<Backlog> pieces = Pieces();
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].time, absl::Seconds(1));
  EXPECT_EQ(pieces[1].id, DrvOf("new-1"));
  EXPECT_FALSE(pieces[1].running);
  EXPECT_EQ(pieces[1].time, std::nullopt);
  EXPECT_EQ(pieces[2].time, std::nullopt) << "the check";
}

TEST_F(BacklogTest, WhatNobodyWantsAnyMoreIsNoWork) {
  ASSERT_TRUE(Upload("tool-2").ok());
  ASSERT_TRUE(worker_.End("tool-2", Cause::kNone).ok());
  worker_.Sync();
  ASSERT_TRUE(worker_.End("new-1", Cause::kBuilderFailed).ok());
  EXPECT_THAT(Pieces(), IsEmpty());
}

}  // namespace
}  // namespace hydrant
