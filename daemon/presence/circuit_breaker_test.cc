#include "daemon/presence/circuit_breaker.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

using State = CircuitBreaker::State;

class CircuitBreakerTest : public ::testing::Test {
 protected:
  void Fail(int times) {
    for (int i = 0; i < times; ++i) breaker_.Failed(now_);
  }
  void OpenIt() { Fail(3); }
  void FailTheProbe() {
    ASSERT_TRUE(breaker_.Admit(now_));
    Fail(1);
  }
  CircuitBreaker breaker_{
      {.failures_to_open = 3, .pause = absl::Seconds(30), .longest_pause = absl::Seconds(100)}};
  absl::Time now_ = absl::FromUnixSeconds(1'000'000);
};

TEST_F(CircuitBreakerTest, OpensAfterFailuresInARowOnly) {
  Fail(2);
  breaker_.Succeeded();
  Fail(2);
  EXPECT_EQ(breaker_.state(), State::kClosed);
  Fail(1);
  EXPECT_EQ(breaker_.state(), State::kOpen);
  EXPECT_FALSE(breaker_.Admit(now_));
  EXPECT_TRUE(breaker_.Refuses(now_));
}

TEST_F(CircuitBreakerTest, AfterThePauseOneProbeGoesOut) {
  OpenIt();
  now_ += absl::Seconds(30);
  EXPECT_FALSE(breaker_.Refuses(now_));
  EXPECT_TRUE(breaker_.Admit(now_));
  EXPECT_FALSE(breaker_.Admit(now_));
  EXPECT_FALSE(breaker_.Refuses(now_));  // whoever comes now waits for the probe
}

TEST_F(CircuitBreakerTest, AProbeThatSucceedsClosesIt) {
  OpenIt();
  now_ += absl::Seconds(30);
  ASSERT_TRUE(breaker_.Admit(now_));
  breaker_.Succeeded();
  EXPECT_EQ(breaker_.state(), State::kClosed);
  EXPECT_TRUE(breaker_.Admit(now_));
}

TEST_F(CircuitBreakerTest, EachProbeThatFailsDoublesThePauseUpToTheLongest) {
  OpenIt();
  for (const int pause : {30, 60, 100, 100}) {
    now_ += absl::Seconds(pause - 1);
    ASSERT_FALSE(breaker_.Admit(now_)) << pause;
    now_ += absl::Seconds(1);
    FailTheProbe();
  }
}

TEST_F(CircuitBreakerTest, WhatWasUnderWayWhenItOpenedDoesNotProlongThePause) {
  OpenIt();
  now_ += absl::Seconds(29);
  Fail(5);
  now_ += absl::Seconds(1);
  EXPECT_TRUE(breaker_.Admit(now_));
}

TEST_F(CircuitBreakerTest, AServerThatAsksForALongerPauseGetsItWithinBounds) {
  Fail(2);
  breaker_.Failed(now_, absl::Hours(5));
  now_ += absl::Seconds(99);
  EXPECT_TRUE(breaker_.Refuses(now_));
  now_ += absl::Seconds(1);
  EXPECT_FALSE(breaker_.Refuses(now_));
}

}  // namespace
}  // namespace hydrant
