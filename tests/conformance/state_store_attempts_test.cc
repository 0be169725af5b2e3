// Attempts and their leases, from grant to end.
#include "tests/conformance/state_store_harness.h"

namespace hydrant {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TYPED_TEST_SUITE(StateStoreTest, StateStores, HarnessName);

EndAttempt Success(AttemptId attempt, LeaseToken token) {
  return {attempt,
          token,
          "released",
          {.outcome = "succeeded",
           .message = "",
           .fetching = absl::Seconds(1),
           .building = absl::Milliseconds(2500),
           .pushing = absl::Microseconds(7),
           .cpu = absl::Hours(30),
           .max_memory_bytes = int64_t{1} << 40,
           .log_bytes = 12,
           .ended_at = At(80)}};
}

TYPED_TEST(StateStoreTest, AnAttemptAdvancesUntilItEnds) {
  this->Record(this->farm_.batch);
  this->Record({AdvanceAttempt{{1}, {1}, AttemptStage::kBuilding, At(40)}});
  this->Record({AdvanceAttempt{{1}, {1}, AttemptStage::kPushing}});
  Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.live_attempts, SizeIs(1));
  EXPECT_EQ(recorded.live_attempts[0].lease.stage, AttemptStage::kPushing);
  EXPECT_EQ(recorded.live_attempts[0].lease.stage_at, At(40));

  const EndAttempt end = Success({1}, {1});
  this->Record({end});
  AttemptRecord expected{this->farm_.lease, end.result};
  expected.lease.stage = AttemptStage::kEnded;
  expected.lease.stage_at = At(80);
  recorded = this->Reopen();
  EXPECT_THAT(recorded.live_attempts, IsEmpty());
  ASSERT_THAT(recorded.durations, SizeIs(1));
  EXPECT_EQ(recorded.durations[0].derivation, this->farm_.a.path);
  EXPECT_EQ(recorded.durations[0].building, absl::Milliseconds(2500));
  EXPECT_EQ(recorded.durations[0].cpu, absl::Hours(30));
  EXPECT_THAT(recorded.check_durations, IsEmpty());
  EXPECT_EQ(recorded.last_attempt.value, 1);
  const auto found = this->store_->FindAttempt({1});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(Describe(*found), Describe(expected));
}

TYPED_TEST(StateStoreTest, TheNewestAttemptsOfAStepComeFirst) {
  this->Record(this->farm_.batch);
  Lease lease = this->farm_.lease;
  for (int i = 2; i <= 4; ++i) {
    this->Record({EndAttempt{lease.attempt,
                             lease.token,
                             "expired",
                             {.outcome = "lost", .cause = Cause::kLost, .ended_at = At(i)}}});
    lease.attempt = {i};
    lease.token = {i};
    this->Record({GrantLease{lease}});
  }
  const auto attempts = this->store_->Attempts({.derivation = this->farm_.a.path}, 2);
  ASSERT_THAT(attempts.value(), SizeIs(2));
  EXPECT_EQ((*attempts)[0].lease.attempt.value, 4);
  EXPECT_EQ((*attempts)[0].result.outcome, "");
  EXPECT_EQ((*attempts)[1].result.cause, Cause::kLost);
  EXPECT_THAT(this->Reopen().live_attempts, SizeIs(1));
}

TYPED_TEST(StateStoreTest, WhatChecksTookThatPassedIsKnownAgainNewestFirst) {
  this->Record(this->farm_.batch);
  Lease lease = this->farm_.lease;
  lease.subject = {.check = "k"};
  for (int i = 2; i <= 4; ++i) {
    lease.attempt = {i};
    lease.token = {i};
    EndAttempt end = Success({i}, {i});
    end.result.building = absl::Seconds(i);
    if (i == 3) {
      end.result.outcome = "failed";
      end.result.cause = Cause::kCheckFailed;
    }
    this->Record({GrantLease{lease}, end});
  }
  const Recorded recorded = this->Reopen();
  EXPECT_THAT(recorded.durations, IsEmpty());
  ASSERT_THAT(recorded.check_durations, SizeIs(2));
  EXPECT_EQ(recorded.check_durations[0].key, "k");
  EXPECT_EQ(recorded.check_durations[0].running, absl::Seconds(4));
  EXPECT_EQ(recorded.check_durations[1].running, absl::Seconds(2));
}

TYPED_TEST(StateStoreTest, AttemptsAreCountedByOutcomeAndCause) {
  this->Record(this->farm_.batch);
  this->Record({Success({1}, {1})});
  Lease lease = this->farm_.lease;
  for (int i = 2; i <= 4; ++i) {
    lease.attempt = {i};
    lease.token = {i};
    const Cause cause = i == 4 ? Cause::kTimeout : Cause::kBuilderFailed;
    this->Record(
        {GrantLease{lease},
         EndAttempt{{i}, {i}, "released", {.outcome = "failed", .cause = cause, .ended_at = At(i)}}});
  }
  const auto counted = this->store_->CountAttempts();
  ASSERT_TRUE(counted.ok()) << counted.status();
  std::string counts;
  for (const auto& count : *counted) {
    counts += count.outcome + " " + count.cause + " " + std::to_string(count.count) + "\n";
  }
  EXPECT_EQ(counts, "failed builder_failed 2\nfailed timeout 1\nsucceeded  1\n");
}

TYPED_TEST(StateStoreTest, ARenewalMakesLiveLeasesLongerAndNoOthers) {
  this->Record(this->farm_.batch);
  this->Record({RenewLeases{{{1}, {99}}, At(100)}});
  EXPECT_EQ(this->Load().live_attempts[0].lease.expires_at, At(100));
  this->Record({RenewLeases{{{1}}, At(50)}});
  EXPECT_EQ(this->Load().live_attempts[0].lease.expires_at, At(100));
  this->Record({Success({1}, {1}), RenewLeases{{{1}}, At(200)}});
  EXPECT_EQ(this->store_->FindAttempt({1})->lease.expires_at, At(100));
}

TYPED_TEST(StateStoreTest, OneGpuOfAWorkerHasOneLease) {
  this->Record(this->farm_.batch);
  CheckRecord other = this->farm_.check;
  other.key = "k2";
  Lease lease = this->farm_.lease;
  lease.attempt = {2};
  lease.token = {2};
  lease.subject = {.check = "k"};
  lease.gpu_uuid = "GPU-1";
  this->Record({CreateChecks{{other}}, GrantLease{lease}});
  lease.attempt = {3};
  lease.token = {3};
  lease.subject = {.check = "k2"};
  EXPECT_TRUE(absl::IsFailedPrecondition(this->store_->Commit({GrantLease{lease}})));
  lease.worker = "w2";
  this->Record({GrantLease{lease}});
  const auto attempts = this->store_->Attempts({.check = "k2"}, 9);
  ASSERT_THAT(attempts.value(), SizeIs(1));
  EXPECT_EQ((*attempts)[0].lease.gpu_uuid, "GPU-1");
  EXPECT_EQ(this->Reopen().last_token.value, 3);
}

}  // namespace
}  // namespace hydrant
