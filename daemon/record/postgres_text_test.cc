#include "daemon/record/postgres_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hydrant {
namespace {

using Texts = std::vector<std::string>;

TEST(PostgresTextTest, WritesAnArrayWithQuotesBackslashesAndNull) {
  EXPECT_EQ(ArrayOf({}), "{}");
  EXPECT_EQ(ArrayOf(Texts{"a", "", "b \"c\" \\d", "NULL", "{x,y}"}),
            R"({"a","","b \"c\" \\d","NULL","{x,y}"})");
  ArrayText array;
  array.AddNull();
  array.Add("x");
  EXPECT_EQ(array.Take(), R"({NULL,"x"})");
  EXPECT_EQ(array.Take(), "{}");
}

TEST(PostgresTextTest, ReadsBackWhatItWrote) {
  const Texts texts{"a", "", "b \"c\" \\d", "NULL", "{x,y}", "line\nbreak", "/nix/store/€"};
  EXPECT_THAT(ParseArray(ArrayOf(texts)).value(), testing::ElementsAreArray(texts));
  EXPECT_THAT(ParseArray("{}").value(), testing::IsEmpty());
  EXPECT_THAT(ParseArray("{a,b.c,\"d e\"}").value(), testing::ElementsAre("a", "b.c", "d e"));
}

TEST(PostgresTextTest, RefusesWhatIsNoListOfTexts) {
  for (const char* text :
       {"", "{", "a", "{a", "{a,", "{a,}", "{\"a}", "{\"a\\", "{NULL}", "{{a}}", "{a}b", "[1:2]={a,b}"}) {
    EXPECT_FALSE(ParseArray(text).ok()) << text;
  }
}

TEST(PostgresTextTest, CutsTimesToTheMicrosecond) {
  const absl::Time time = absl::UnixEpoch() + absl::Seconds(1) + absl::Nanoseconds(1999);
  EXPECT_EQ(TimeText(time), "1970-01-01 00:00:01.000001+00");
  EXPECT_EQ(ParseTimeText("1970-01-01 00:00:01.000001+00").value(),
            absl::UnixEpoch() + absl::Microseconds(1000001));
  EXPECT_EQ(ParseTimeText("2026-02-28 23:59:59+00").value(),
            absl::FromCivil(absl::CivilSecond(2026, 2, 28, 23, 59, 59), absl::UTCTimeZone()));
}

TEST(PostgresTextTest, KnowsBothInfinities) {
  for (const absl::Time time : {absl::InfiniteFuture(), absl::InfinitePast()}) {
    EXPECT_EQ(ParseTimeText(TimeText(time)).value(), time);
  }
  EXPECT_FALSE(ParseTimeText("2026-02-28 23:59:59+01").ok());
  EXPECT_FALSE(ParseTimeText("yesterday+00").ok());
}

TEST(PostgresTextTest, KeepsEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(ParseBytes(BytesText(bytes)).value(), bytes);
  EXPECT_FALSE(ParseBytes("\\x0").ok());
  EXPECT_FALSE(ParseBytes("\\xzz").ok());
  EXPECT_FALSE(ParseBytes("abc").ok());
}

}  // namespace
}  // namespace hydrant
