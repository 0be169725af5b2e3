// The lease conversation: who holds what, who lost it, and whose word counts.
#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WorkersTest : public FarmTest {
 protected:
  void SetUp() override {
    SetPackages("thing\nother");
    Declare("m", {"thing"});
  }
  // One step, held by `worker`.
  void Give(TestWorker& worker) {
    worker.Sync();
    TriggerAndEvaluate("m");
    worker.Sync();
    ASSERT_EQ(worker.Held(), "thing");
  }
};

TEST_F(WorkersTest, AnAssignmentIsRepeatedUntilItIsHeld) {
  TestWorker worker("w1", farm());
  worker.Sync();
  TriggerAndEvaluate("m");
  const SyncReply first = worker.Sync();
  worker.Forget();
  const SyncReply again = worker.Sync();
  ASSERT_EQ(again.assignments.size(), 1u);
  EXPECT_EQ(again.assignments[0].lease.attempt, first.assignments[0].lease.attempt);
  EXPECT_THAT(worker.Sync().assignments, IsEmpty()) << "held now";
}

TEST_F(WorkersTest, AWorkerThatIsSilentLosesItsLeaseAndAnOldTokenCountsNoMore) {
  TestWorker one("w1", farm()), two("w2", farm());
  Give(one);
  const Lease lease = one.Of("thing").lease;
  for (int i = 0; i < 25; ++i) {
    clock_.Advance(absl::Seconds(1));
    two.Sync();
    farm().Tick();
  }
  two.Sync();
  EXPECT_EQ(two.Held(), "thing");
  EXPECT_EQ(observer_.expired, 1);
  EXPECT_EQ(farm().CheckLease(lease.attempt, lease.token).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(farm().MayUpload(lease.attempt, lease.token, OutputOf("thing")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(farm().ReportStage(lease.attempt, lease.token, AttemptStage::kBuilding).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Upload("thing").ok());
  EXPECT_EQ(one.End("thing", Cause::kNone).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(States(), "thing:building");
}

TEST_F(WorkersTest, AWrongTokenIsAborted) {
  TestWorker worker("w1", farm());
  Give(worker);
  const Lease lease = worker.Of("thing").lease;
  const LeaseToken wrong{lease.token.value - 1};
  EXPECT_EQ(farm().CheckLease(lease.attempt, wrong).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(farm().ReportEnd(lease.attempt, wrong, {}).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(farm().DerivationsOf(lease.attempt, wrong, {}).status().code(), absl::StatusCode::kAborted);
}

TEST_F(WorkersTest, RenewalsKeepALeaseForAsLongAsItTakes) {
  TestWorker worker("w1", farm());
  Give(worker);
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(absl::Seconds(10));
    worker.Sync();
    farm().Tick();
  }
  EXPECT_EQ(worker.Held(), "thing");
  EXPECT_EQ(States(), "thing:building");
}

TEST_F(WorkersTest, ASuccessWithoutItsOutputsIsRefusedByName) {
  TestWorker worker("w1", farm());
  Give(worker);
  absl::Status early = worker.End("thing", Cause::kNone);
  EXPECT_EQ(early.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(early.message()), HasSubstr(OutputOf("thing")));
  ASSERT_TRUE(Upload("thing").ok());
  EXPECT_TRUE(worker.End("thing", Cause::kNone).ok());
  EXPECT_EQ(States(), "thing:cached");
}

TEST_F(WorkersTest, AnEndThatIsSaidAgainIsNoNewsAndIsNotToldAsRevoked) {
  TestWorker worker("w1", farm());
  Give(worker);
  worker.Sync();
  const Lease lease = worker.Of("thing").lease;
  const SyncRequest holding = worker.request();
  ASSERT_EQ(holding.held.size(), 1u);
  ASSERT_TRUE(Upload("thing").ok());
  ASSERT_TRUE(worker.End("thing", Cause::kNone).ok());
  EXPECT_TRUE(farm().ReportEnd(lease.attempt, lease.token, {}).ok());
  EXPECT_THAT(farm().PendingFor(holding)->revoked, testing::IsEmpty());
}

TEST_F(WorkersTest, OnlyOutputsOfTheAttemptMayBeUploaded) {
  TestWorker worker("w1", farm());
  Give(worker);
  const Lease lease = worker.Of("thing").lease;
  EXPECT_TRUE(farm().MayUpload(lease.attempt, lease.token, "").ok());
  EXPECT_TRUE(farm().MayUpload(lease.attempt, lease.token, OutputOf("thing")).ok());
  EXPECT_EQ(farm().MayUpload(lease.attempt, lease.token, OutputOf("other")).code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(WorkersTest, ANewInstanceEndsAtOnceWhatTheOldOneForgot) {
  TestWorker worker("w1", farm());
  Give(worker);
  const AttemptId attempt = worker.Of("thing").lease.attempt;
  worker.Forget();
  worker.request().instance = "w1-2";
  const SyncReply reply = worker.Sync();
  ASSERT_EQ(reply.assignments.size(), 1u);
  EXPECT_GT(reply.assignments[0].lease.attempt, attempt);
  EXPECT_EQ(observer_.ended["lost"], 1);
}

TEST_F(WorkersTest, ANewInstanceThatStillHoldsALeaseGoesOn) {
  TestWorker worker("w1", farm());
  Give(worker);
  worker.request().instance = "w1-2";
  EXPECT_THAT(worker.Sync().revoked, IsEmpty());
  ASSERT_TRUE(Upload("thing").ok());
  EXPECT_TRUE(worker.End("thing", Cause::kNone).ok());
}

TEST_F(WorkersTest, WhatWasStagedBeforeItsWorkerDiedIsNotBuiltAgain) {
  TestWorker one("w1", farm()), two("w2", farm());
  Give(one);
  ASSERT_TRUE(Upload("thing").ok());
  two.Sync();
  Pass(absl::Seconds(25));
  EXPECT_EQ(observer_.expired, 1);
  EXPECT_EQ(States(), "thing:cached");
}

TEST_F(WorkersTest, OneDeathWithManyLeasesDoesNotQuarantineTheWorker) {
  SetPackages("a\nb\nc\nd\ne\nf");
  Declare("n", {"a", "b", "c", "d", "e", "f"});
  TestWorker worker("w1", farm(), 6);
  worker.Sync();
  TriggerAndEvaluate("n");
  worker.Sync();
  EXPECT_EQ(worker.Held(), "a b c d e f");
  worker.Forget();
  worker.request().instance = "w1-2";
  EXPECT_EQ(worker.Sync().assignments.size(), 6u);
}

TEST_F(WorkersTest, AWorkerThatFailsEverythingIsQuarantined) {
  SetPackages("a\nb\nc\nd\ne");
  Declare("n", {"a", "b", "c", "d", "e"});
  TestWorker worker("w1", farm(), 5);
  worker.Sync();
  TriggerAndEvaluate("n");
  worker.Sync();
  for (const char* name : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(worker.End(name, Cause::kDiskFull).ok());
  EXPECT_EQ(farm().Workers()[0].worker.state, WorkerState::kQuarantined);
  Pass(absl::Seconds(15));
  EXPECT_THAT(worker.Sync().assignments, IsEmpty());
}

TEST_F(WorkersTest, ADrainedWorkerFinishesAndGetsNothingNewEvenAfterARestart) {
  SetPackages("a\nb");
  Declare("n", {"a", "b"});
  TestWorker worker("w1", farm());
  worker.Sync();
  TriggerAndEvaluate("n");
  worker.Sync();
  ASSERT_TRUE(farm().Drain("w1", true).ok());
  const std::string first = worker.Held();
  ASSERT_TRUE(Upload(first).ok());
  ASSERT_TRUE(worker.End(first, Cause::kNone).ok());
  SyncReply reply = worker.Sync();
  EXPECT_TRUE(reply.draining);
  EXPECT_THAT(reply.assignments, IsEmpty());
  Restart();
  worker.Use(farm());
  EXPECT_THAT(worker.Sync().assignments, IsEmpty());
  ASSERT_TRUE(farm().Drain("w1", false).ok());
  EXPECT_EQ(worker.Sync().assignments.size(), 1u);
  EXPECT_THAT(std::string(farm().Drain("w2", true).message()), HasSubstr("w1"));
}

TEST_F(WorkersTest, APushFreesItsSlot) {
  SetPackages("a\nb");
  Declare("n", {"a", "b"});
  TestWorker worker("w1", farm());
  worker.Sync();
  TriggerAndEvaluate("n");
  worker.Sync();
  const std::string first = worker.Held();
  const Lease lease = worker.Of(first).lease;
  ASSERT_TRUE(farm().ReportStage(lease.attempt, lease.token, AttemptStage::kPushing).ok());
  EXPECT_EQ(worker.Sync().assignments.size(), 1u);
  EXPECT_TRUE(farm().ReportStage(lease.attempt, lease.token, AttemptStage::kFetching).ok()) << "late words change nothing";
}

TEST_F(WorkersTest, ALeavingWorkerIsGoneAndGivesBackWhatItDoesNotHold) {
  TestWorker one("w1", farm()), two("w2", farm());
  one.Sync();
  TriggerAndEvaluate("m");
  two.Sync();
  one.request().leaving = true;
  one.Sync();
  EXPECT_EQ(farm().Workers()[0].worker.state, WorkerState::kGone);
  EXPECT_EQ(two.Sync().assignments.size(), 1u);
}

TEST_F(WorkersTest, AnOfferThatTheRecordCannotKeepIsRefused) {
  TestWorker worker("w1", farm());
  worker.offer().version = std::string("1\0", 2);
  EXPECT_EQ(worker.TrySync().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(farm().Workers(), IsEmpty());
}

}  // namespace
}  // namespace hydrant
