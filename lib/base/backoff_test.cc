#include "lib/base/backoff.h"

#include <gtest/gtest.h>

#include <random>

namespace hydrant {
namespace {

TEST(BackoffTest, DoublesUpToTheCap) {
  const Backoff backoff{.first = absl::Seconds(1), .most = absl::Seconds(10)};
  EXPECT_EQ(backoff.Longest(1), absl::Seconds(1));
  EXPECT_EQ(backoff.Longest(2), absl::Seconds(2));
  EXPECT_EQ(backoff.Longest(4), absl::Seconds(8));
  EXPECT_EQ(backoff.Longest(5), absl::Seconds(10));
  EXPECT_EQ(backoff.Longest(5000), absl::Seconds(10));
}

TEST(BackoffTest, JitterStaysInTheUpperHalfAndVaries) {
  const Backoff backoff{.first = absl::Seconds(4), .most = absl::Seconds(4)};
  std::mt19937_64 random(1);
  absl::Duration least = absl::InfiniteDuration(), most = absl::ZeroDuration();
  for (int i = 0; i < 200; ++i) {
    const absl::Duration delay = backoff.Delay(1, random);
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, absl::Seconds(2));
  EXPECT_LE(most, absl::Seconds(4));
  EXPECT_GT(most - least, absl::Seconds(1));
}

}  // namespace
}  // namespace hydrant
