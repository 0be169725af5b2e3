#include "daemon/evaluate/variant_patience.h"

#include "gtest/gtest.h"

namespace hydrant {
namespace {

VariantPatience After(std::initializer_list<int> seconds) {
  VariantPatience patience(absl::Seconds(60));
  for (const int each : seconds) patience.Took(absl::Seconds(each));
  return patience;
}

TEST(VariantPatienceTest, TheFirstVariantHasTheFloor) { EXPECT_EQ(After({}).Now(), absl::Seconds(60)); }

TEST(VariantPatienceTest, FastOnesDoNotShortenIt) {
  EXPECT_EQ(After({0, 1, 2, 6}).Now(), absl::Seconds(60));
  EXPECT_FALSE(After({6}).by_median());
}

TEST(VariantPatienceTest, SlowOnesMakeItTenTimesTheirMedian) {
  EXPECT_EQ(After({9, 8, 50}).Now(), absl::Seconds(90));
  EXPECT_EQ(After({8, 12, 9, 40}).Now(), absl::Seconds(90));
  EXPECT_TRUE(After({7}).by_median());
}

TEST(VariantPatienceTest, OneSlowVariantDoesNotMoveTheMedian) {
  EXPECT_EQ(After({1, 1, 59}).Now(), absl::Seconds(60));
}

}  // namespace
}  // namespace hydrant
