#include "lib/rpc/retry.h"

#include <gtest/gtest.h>

#include <vector>

namespace hydrant::rpc {
namespace {

class ManualClock final : public Clock {
 public:
  absl::Time Now() const override { return now; }
  absl::Time now = absl::UnixEpoch();
};

struct Calls {
  ManualClock clock;
  std::vector<absl::Duration> pauses;
  int made = 0;
  Pause pause = [this](absl::Duration d) {
    pauses.push_back(d);
    clock.now += d;
    return true;
  };
  absl::Status Run(int unavailable, absl::Status then, RetryOptions options = {}) {
    return RetryUnavailable(options, clock, pause,
                            [&] { return made++ < unavailable ? absl::UnavailableError("away") : then; });
  }
};

TEST(Retry, AnAnswerIsNotAskedForAgain) {
  Calls calls;
  EXPECT_EQ(calls.Run(0, absl::NotFoundError("no such worker")), absl::NotFoundError("no such worker"));
  EXPECT_EQ(calls.made, 1);
}

TEST(Retry, AServerThatComesBackIsAskedUntilItAnswers) {
  Calls calls;
  EXPECT_TRUE(calls.Run(3, absl::OkStatus()).ok());
  EXPECT_EQ(calls.made, 4);
}

TEST(Retry, PausesGrowWithJitter) {
  Calls calls;
  ASSERT_TRUE(calls.Run(3, absl::OkStatus()).ok());
  const Backoff backoff;
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(calls.pauses[i], backoff.Longest(i + 1));
    EXPECT_GE(calls.pauses[i], backoff.Longest(i + 1) / 2);
  }
}

TEST(Retry, AServerThatStaysAwayIsGivenUpAfterTheTimeForIt) {
  Calls calls;
  EXPECT_EQ(calls.Run(1'000'000, absl::OkStatus(), {.give_up_after = absl::Minutes(3)}),
            absl::UnavailableError("away"));
  EXPECT_EQ(calls.clock.now, absl::UnixEpoch() + absl::Minutes(3));
}

TEST(Retry, AnEndedCallerDoesNotWait) {
  Calls calls;
  calls.pause = [](absl::Duration) { return false; };
  EXPECT_EQ(calls.Run(5, absl::OkStatus()), absl::UnavailableError("away"));
  EXPECT_EQ(calls.made, 1);
}

TEST(Retry, AfterAnAnswerTheNextOutageBeginsAnew) {
  Calls calls;
  Outage outage({.give_up_after = absl::Seconds(30)}, calls.clock);
  EXPECT_TRUE(outage.WaitToRetry(absl::UnavailableError("away"), calls.pause));
  outage.Over();
  calls.clock.now += absl::Hours(1);
  EXPECT_TRUE(outage.WaitToRetry(absl::UnavailableError("away"), calls.pause));
  EXPECT_EQ(outage.failures(), 1);
}

}  // namespace
}  // namespace hydrant::rpc
