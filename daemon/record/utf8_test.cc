#include "daemon/record/utf8.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

using std::string_literals::operator""s;

TEST(Utf8Test, KeepsEveryCharacterOfOneToFourBytes) {
  const std::string text = "a\x7f ¢ € 𐍈 \xf4\x8f\xbf\xbf";
  EXPECT_TRUE(IsCleanUtf8(text));
  EXPECT_EQ(CleanUtf8(text), text);
}

TEST(Utf8Test, ReplacesEachByteThatDoesNotBelongAndDropsNuls) {
  EXPECT_EQ(CleanUtf8("a\xff"
                      "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(CleanUtf8("a\0b"s), "ab");
  EXPECT_EQ(CleanUtf8("cut \xe2\x82"), "cut \xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Utf8Test, RefusesWhatPostgreSqlRefuses) {
  for (const std::string& text : {"\0"s, "\x80"s, "\xc0\x80"s, "\xe0\x9f\xbf"s, "\xed\xa0\x80"s,
                                  "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xc2"s}) {
    EXPECT_FALSE(IsCleanUtf8(text));
    EXPECT_TRUE(IsCleanUtf8(CleanUtf8(text)));
  }
}

}  // namespace
}  // namespace hydrant
