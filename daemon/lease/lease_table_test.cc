#include "daemon/lease/lease_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1000);

class LeaseTableTest : public ::testing::Test {
 protected:
  Lease Make(int64_t attempt, const std::string& derivation, const std::string& worker = "w1") {
    return {.attempt = {attempt},
            .token = {100 + attempt},
            .subject = {.derivation = derivation},
            .worker = worker,
            .granted_at = kStart,
            .expires_at = kStart + table_.duration(),
            .stage_at = kStart};
  }
  void Grant(const Lease& lease) { ASSERT_EQ(table_.Grant(lease), absl::OkStatus()); }
  absl::Status Advance(AttemptStage stage) {
    return table_.Advance({1}, {101}, stage, kStart + absl::Seconds(5));
  }

  LeaseTable table_{absl::Seconds(30)};
};

TEST_F(LeaseTableTest, AStepHasOneLeaseAtATime) {
  Grant(Make(1, "torch.drv"));
  const absl::Status second = table_.Grant(Make(2, "torch.drv", "w2"));
  EXPECT_EQ(second.code(), StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.message()), HasSubstr("leased to w1 as attempt a1"));
}

TEST_F(LeaseTableTest, AnOldTokenIsRefusedAfterExpiryAndRegrant) {
  Grant(Make(1, "torch.drv"));
  ASSERT_THAT(table_.Expired(kStart + absl::Seconds(30)), ElementsAre(table_.Find({1})));
  table_.End({1});
  Grant(Make(2, "torch.drv", "w2"));
  EXPECT_EQ(table_.Renew({1}, {101}, kStart + absl::Seconds(31)).code(), StatusCode::kNotFound);
  EXPECT_EQ(table_.Advance({2}, {101}, AttemptStage::kPushing, kStart).code(), StatusCode::kAborted);
  EXPECT_TRUE(table_.Check({2}, {102}).ok());
}

TEST_F(LeaseTableTest, ARenewedLeaseLivesOnAndASilentOneExpires) {
  Grant(Make(1, "torch.drv"));
  Grant(Make(2, "jax.drv"));
  ASSERT_EQ(table_.Renew({1}, {101}, kStart + absl::Seconds(20)), absl::OkStatus());
  EXPECT_EQ(table_.NextExpiry(), kStart + absl::Seconds(30));
  EXPECT_THAT(table_.Expired(kStart + absl::Seconds(30)), ElementsAre(table_.Find({2})));
}

TEST_F(LeaseTableTest, AnExpiredLeaseCannotBeRenewed) {
  Grant(Make(1, "torch.drv"));
  EXPECT_EQ(table_.Renew({1}, {101}, kStart + absl::Seconds(30)).code(), StatusCode::kNotFound);
}

TEST_F(LeaseTableTest, StagesGoForwardOnly) {
  Grant(Make(1, "torch.drv"));
  EXPECT_EQ(Advance(AttemptStage::kBuilding), absl::OkStatus());
  EXPECT_EQ(Advance(AttemptStage::kBuilding), absl::OkStatus());
  EXPECT_EQ(Advance(AttemptStage::kFetching).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Advance(AttemptStage::kEnded).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(table_.Find({1})->stage, AttemptStage::kBuilding);
  EXPECT_EQ(table_.Find({1})->stage_at, kStart + absl::Seconds(5));
}

TEST_F(LeaseTableTest, ALeaseAdoptedAtRestartHoldsForAWholeDuration) {
  const absl::Time restart = kStart + absl::Hours(2);
  ASSERT_EQ(table_.Adopt(Make(1, "torch.drv"), restart), absl::OkStatus());
  EXPECT_THAT(table_.Expired(restart + absl::Seconds(29)), IsEmpty());
  EXPECT_EQ(table_.Renew({1}, {101}, restart + absl::Seconds(29)), absl::OkStatus());
}

TEST_F(LeaseTableTest, OneGpuHasOneLease) {
  Lease first = Make(1, "a.drv"), second = Make(2, "b.drv"), elsewhere = Make(3, "c.drv", "w2");
  first.gpu_uuid = second.gpu_uuid = elsewhere.gpu_uuid = "GPU-1";
  Grant(first);
  EXPECT_EQ(table_.Grant(second).code(), StatusCode::kAlreadyExists);
  Grant(elsewhere);  // another machine's GPU
  EXPECT_THAT(table_.BusyGpus("w1"), ElementsAre("GPU-1"));
  table_.End({1});
  EXPECT_THAT(table_.BusyGpus("w1"), IsEmpty());
  Grant(second);
}

TEST_F(LeaseTableTest, PushingFreesTheSlot) {
  Grant(Make(1, "torch.drv"));
  Grant(Make(2, "jax.drv"));
  EXPECT_EQ(table_.BusySlots("w1"), 2);
  ASSERT_EQ(Advance(AttemptStage::kPushing), absl::OkStatus());
  EXPECT_EQ(table_.BusySlots("w1"), 1);
  EXPECT_EQ(table_.OfWorker("w1").size(), 2u);
}

TEST_F(LeaseTableTest, AReleasedLeaseIsRememberedAsReleasedAndAnEndedOneIsNot) {
  Grant(Make(1, "torch.drv"));
  Grant(Make(2, "magma.drv"));
  table_.Release({1});
  table_.End({2});
  EXPECT_TRUE(table_.Released({1}, {101}));
  EXPECT_FALSE(table_.Released({1}, {100}));
  EXPECT_FALSE(table_.Released({2}, {102}));
  EXPECT_EQ(table_.size(), 0u);
  Grant(Make(3, "torch.drv"));  // its subject is free again
}

TEST_F(LeaseTableTest, ALeaseOfNothingOrOfTwoThingsIsRefused) {
  Lease both = Make(1, "torch.drv");
  both.subject.check = "key";
  EXPECT_EQ(table_.Grant(both).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.Grant(Make(1, "")).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.size(), 0u);
}

TEST_F(LeaseTableTest, StageNamesReadBack) {
  for (int s = 0; s <= static_cast<int>(AttemptStage::kEnded); ++s) {
    EXPECT_EQ(ParseAttemptStage(AttemptStageName(static_cast<AttemptStage>(s))),
              static_cast<AttemptStage>(s));
  }
}

}  // namespace
}  // namespace hydrant
