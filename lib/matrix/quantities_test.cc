#include "lib/matrix/quantities.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

TEST(DurationText, IsReadUnitByUnit) {
  EXPECT_EQ(*ParseDurationText("12h"), absl::Hours(12));
  EXPECT_EQ(*ParseDurationText("90d"), absl::Hours(90 * 24));
  EXPECT_EQ(*ParseDurationText("1h30m"), absl::Minutes(90));
  EXPECT_EQ(*ParseDurationText("10s500ms"), absl::Milliseconds(10'500));
  EXPECT_EQ(*ParseDurationText("0s"), absl::ZeroDuration());
}

TEST(DurationText, AnythingElseIsRefusedWithAnExample) {
  for (const char* text :
       {"", "10", "m", "10 m", "-1h", "+1h", "1.5h", "30m1h", "1h1h", "1y", "1H", "h1", "1h 30m"}) {
    const auto status = ParseDurationText(text).status();
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("1h30m")) << text;
  }
}

TEST(DurationText, WhatIsLongerThanAThousandYearsIsRefused) {
  EXPECT_FALSE(ParseDurationText("400000d").ok());
  EXPECT_FALSE(ParseDurationText("9223372036854775807d").ok());
  EXPECT_FALSE(ParseDurationText("99999999999999999999d").ok());
  EXPECT_TRUE(ParseDurationText("365000d").ok());
  EXPECT_FALSE(ParseDurationText("365000d1ms").ok());
}

TEST(ByteSize, KnowsPowersOfAThousandAndOf1024) {
  EXPECT_EQ(*ParseByteSize("2TB"), 2'000'000'000'000u);
  EXPECT_EQ(*ParseByteSize("1500MB"), 1'500'000'000u);
  EXPECT_EQ(*ParseByteSize("64MiB"), 64u << 20);
  EXPECT_EQ(*ParseByteSize("10kB"), 10'000u);
  EXPECT_EQ(*ParseByteSize("10KB"), 10'000u);
  EXPECT_EQ(*ParseByteSize("1B"), 1u);
  EXPECT_EQ(*ParseByteSize("1.5GiB"), 3u << 29);
  EXPECT_EQ(*ParseByteSize("0.3GB"), 300'000'000u);
  EXPECT_EQ(*ParseByteSize("0.0000000000001B"), 0u);
}

TEST(ByteSize, AnythingElseIsRefusedWithAnExample) {
  for (const char* text : {"", "10", "MB", "10 MB", "-1MB", "1,5GB", "1.GB", ".5GB", "1mb", "1M", "1kiB",
                           "1iB", "1XB", "1MBB"}) {
    const auto status = ParseByteSize(text).status();
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("64MiB")) << text;
  }
}

TEST(ByteSize, WhatNoDiskHoldsIsRefused) {
  EXPECT_FALSE(ParseByteSize("10000PB").ok());
  EXPECT_FALSE(ParseByteSize("99999999999999999999999999999999999999999999B").ok());
  EXPECT_EQ(*ParseByteSize("9223372036854775807B"), 9223372036854775807u);
}

}  // namespace
}  // namespace hydrant
