#include "daemon/lease/worker_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kStart = absl::FromUnixSeconds(1000);
absl::Time At(int seconds) { return kStart + absl::Seconds(seconds); }

class WorkerRegistryTest : public ::testing::Test {
 protected:
  WorkerRegistryTest() { offer_.systems = {"x86_64-linux"}; }
  absl::StatusOr<bool> Seen(int seconds, const std::string& instance = "i1", bool draining = false) {
    return registry_.Seen("w1", instance, offer_, draining, At(seconds));
  }
  std::string State() { return std::string(WorkerStateName(registry_.Find("w1")->state)); }
  void FailTimes(int times, int seconds) {
    for (int i = 0; i < times; ++i) registry_.FailedByFarm("w1", absl::StrCat("step-", failed_++), At(seconds));
  }

  int failed_ = 0;
  WorkerOffer offer_;
  WorkerRegistry registry_{
      {.gone_after = absl::Seconds(20), .quarantine_after = 3, .quarantine = absl::Seconds(60)}};
};

TEST_F(WorkerRegistryTest, SilenceMakesAWorkerGoneAndSpeechBringsItBack) {
  EXPECT_EQ(*Seen(0), true);
  EXPECT_EQ(*Seen(5), false);
  EXPECT_EQ(registry_.NextExpiry(), At(25));
  EXPECT_THAT(registry_.Expire(At(24)), IsEmpty());
  EXPECT_THAT(registry_.Expire(At(25)), ElementsAre("w1"));
  EXPECT_EQ(State(), "gone");
  EXPECT_EQ(registry_.NextExpiry(), absl::InfiniteFuture());
  EXPECT_EQ(*Seen(40), true);
  EXPECT_EQ(State(), "connected");
  EXPECT_EQ(registry_.Find("w1")->connected_at, At(40));
}

TEST_F(WorkerRegistryTest, OneStepThatFailsAgainAndAgainIsNoReasonForQuarantine) {
  ASSERT_TRUE(Seen(0).ok());
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(registry_.FailedByFarm("w1", "mkfifo.drv", At(i)));
  EXPECT_EQ(State(), "connected");
}

TEST_F(WorkerRegistryTest, AnOperatorEndsAQuarantine) {
  ASSERT_TRUE(Seen(0).ok());
  FailTimes(3, 1);
  ASSERT_EQ(State(), "quarantined");
  ASSERT_TRUE(registry_.Drain("w1", false).ok());
  EXPECT_EQ(State(), "connected");
}

TEST_F(WorkerRegistryTest, ARestartedWorkerIsANewInstance) {
  ASSERT_TRUE(Seen(0).ok());
  EXPECT_EQ(*Seen(1, "i2"), true);
}

TEST_F(WorkerRegistryTest, ADrainedWorkerStaysDrainingThroughItsRestartAndOurs) {
  ASSERT_TRUE(Seen(0).ok());
  ASSERT_EQ(registry_.Drain("w1", true), absl::OkStatus());
  EXPECT_EQ(State(), "draining");
  ASSERT_TRUE(Seen(5, "i2").ok());
  EXPECT_EQ(State(), "draining");
  WorkerRegistry restarted({});
  restarted.Restore(*registry_.Find("w1"));
  EXPECT_EQ(restarted.Find("w1")->state, WorkerState::kGone);
  ASSERT_TRUE(restarted.Seen("w1", "i2", offer_, false, At(100)).ok());
  EXPECT_EQ(restarted.Find("w1")->state, WorkerState::kDraining);
  ASSERT_EQ(restarted.Drain("w1", false), absl::OkStatus());
  EXPECT_EQ(restarted.Find("w1")->state, WorkerState::kConnected);
}

TEST_F(WorkerRegistryTest, AWorkerMayDrainItselfAndLeave) {
  ASSERT_TRUE(Seen(0, "i1", true).ok());
  EXPECT_EQ(State(), "draining");
  registry_.Leave("w1");
  EXPECT_EQ(State(), "gone");
}

TEST_F(WorkerRegistryTest, AWorkerThatFailsThriceInARowIsQuarantinedForAWhile) {
  ASSERT_TRUE(Seen(0).ok());
  FailTimes(2, 1);
  registry_.Succeeded("w1");
  FailTimes(2, 2);
  EXPECT_EQ(State(), "connected");
  FailTimes(1, 3);
  EXPECT_EQ(State(), "quarantined");
  ASSERT_TRUE(Seen(55).ok());
  EXPECT_EQ(State(), "quarantined");
  EXPECT_EQ(registry_.NextExpiry(), At(63));
  EXPECT_THAT(registry_.Expire(At(63)), ElementsAre("w1"));
  EXPECT_EQ(State(), "connected");
}

TEST_F(WorkerRegistryTest, TheNextFailureAfterQuarantineQuarantinesAgain) {
  ASSERT_TRUE(Seen(0).ok());
  FailTimes(3, 0);
  ASSERT_TRUE(Seen(60).ok());
  ASSERT_EQ(State(), "connected");
  FailTimes(1, 61);
  EXPECT_EQ(State(), "quarantined");
}

TEST_F(WorkerRegistryTest, ARevokedWorkerIsNeverLetInAgain) {
  ASSERT_TRUE(Seen(0).ok());
  ASSERT_EQ(registry_.Revoke("w1"), absl::OkStatus());
  EXPECT_EQ(Seen(1, "i2").status().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(registry_.Drain("w1", false).code(), StatusCode::kFailedPrecondition);
  registry_.Leave("w1");
  registry_.Expire(At(100));
  EXPECT_EQ(State(), "revoked");
  WorkerRegistry restarted({});
  restarted.Restore(*registry_.Find("w1"));
  EXPECT_EQ(restarted.Find("w1")->state, WorkerState::kRevoked);
}

TEST_F(WorkerRegistryTest, AnUnknownNameIsAnsweredWithTheNearest) {
  ASSERT_TRUE(Seen(0).ok());
  ASSERT_TRUE(registry_.Seen("gpu-box", "i", offer_, false, At(0)).ok());
  const absl::Status status = registry_.Drain("gpubox", true);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("gpu-box"));
}

TEST_F(WorkerRegistryTest, BadNamesAndOffersAreRefusedAndLeaveNoWorker) {
  for (const std::string& name :
       {std::string(""), std::string("GPU"), std::string("-w"), std::string(64, 'a'), std::string("a b")}) {
    EXPECT_EQ(registry_.Seen(name, "i", offer_, false, kStart).status().code(), StatusCode::kInvalidArgument)
        << name;
  }
  WorkerOffer no_system, no_slot = offer_, twin = offer_;
  no_slot.slots = 0;
  twin.gpus = {{.uuid = "GPU-1"}, {.uuid = "GPU-1"}};
  for (const WorkerOffer& bad : {no_system, no_slot, twin}) {
    EXPECT_EQ(registry_.Seen("w1", "i", bad, false, kStart).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(registry_.all(), IsEmpty());
}

}  // namespace
}  // namespace hydrant
