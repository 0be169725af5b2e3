#include "client/format/text.h"

#include <gtest/gtest.h>

#include "client/format/writer.h"

namespace hydrant::client {
namespace {

TEST(Clean, ControlCharactersBecomeWords) {
  EXPECT_EQ(Clean("a\x1b[31mb\x07\n\tc\x7f"), "a\\x1b[31mb\\x07\\n\\tc\\x7f");
  EXPECT_EQ(Clean(std::string("nul\0!", 5)), "nul\\x00!");
}

TEST(Clean, CharactersThatTurnTextRoundBecomeWords) {
  EXPECT_EQ(Clean("safe\u202eevil\u2066x"), "safe\\u{202e}evil\\u{2066}x");
  EXPECT_EQ(Clean("c1\u009b31m"), "c1\\u{9b}31m");
}

TEST(Clean, BytesThatAreNoUtf8BecomeWords) {
  EXPECT_EQ(Clean("a\xff\xc3(\xe2\x82"), "a\\xff\\xc3(\\xe2\\x82");
  EXPECT_EQ(Clean("\xc0\xaf \xed\xa0\x80"), "\\xc0\\xaf \\xed\\xa0\\x80");  // overlong, surrogate
}

TEST(Clean, OtherTextStays) { EXPECT_EQ(Clean("Grüße ✗ 漢字 \\x1b"), "Grüße ✗ 漢字 \\x1b"); }

TEST(Clean, LinesStayLinesWhereTheyMay) { EXPECT_EQ(CleanLines("a\nb\rc"), "a\nb\\x0dc"); }

TEST(Width, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("●✗–é"), 4);
  EXPECT_EQ(DisplayWidth("漢字"), 4);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
}

TEST(Width, PadsAndCutsByColumns) {
  EXPECT_EQ(PadRight("漢", 4), "漢  ");
  EXPECT_EQ(PadLeft("é", 3), "  é");
  EXPECT_EQ(Shorten("abcdef", 4, true), "abc…");
  EXPECT_EQ(Shorten("abcdef", 4, false), "abc~");
  EXPECT_EQ(Shorten("漢字漢", 4, true), "漢…");
  EXPECT_EQ(Shorten("abcd", 4, true), "abcd");
}

TEST(NaturalOrder, NumbersCompareAsNumbers) {
  EXPECT_TRUE(NaturalLess("12.9", "12.10"));
  EXPECT_FALSE(NaturalLess("12.10", "12.9"));
  EXPECT_TRUE(NaturalLess("python39", "python310"));
  EXPECT_TRUE(NaturalLess("8.9", "8.9+9.0a"));
  EXPECT_FALSE(NaturalLess("a", "a"));
}

std::string Filtered(std::initializer_list<std::string> chunks) {
  LogFilter filter;
  std::string out;
  for (const auto& chunk : chunks) out += filter.Filter(chunk);
  return out;
}

TEST(LogFilter, ColoursStay) { EXPECT_EQ(Filtered({"\x1b[1;31mred\x1b[0m\n"}), "\x1b[1;31mred\x1b[0m\n"); }

TEST(LogFilter, CursorMovesTitlesAndQueriesGo) {
  EXPECT_EQ(Filtered({"a\x1b[2J\x1b[10;10Hb\x1b]0;title\x07"
                      "c\x1b]52;c;ZXZpbA==\x1b\\d\x1b[6ne\x1bPq\x1b\\f\x1b(Bg"}),
            "abcdefg");
  EXPECT_EQ(Filtered({"bell\x07"
                      "back\x08\n"}),
            "bellback\n");
}

TEST(LogFilter, SequencesMayBeCutAnywhere) {
  EXPECT_EQ(Filtered({"a\x1b", "[3", "1mb", "\x1b]0;ti", "tle\x1b", "\\c"}), "a\x1b[31mbc");
  EXPECT_EQ(Filtered({"\xe2\x9c", "\x97"}), "✗");
}

TEST(LogFilter, EightBitControlsGoAndCharactersStay) {
  EXPECT_EQ(Filtered({"a\x9b"
                      "31mb\xc2\x9b"
                      "31mc\xc2\xa9 é"}),
            "a31mb31mc© é");
}

TEST(LogFilter, AnUnendedTitleEndsWithItsLine) { EXPECT_EQ(Filtered({"\x1b]0;never ends\nnext"}), "\nnext"); }

TEST(Writer, ColoursOnlyWhereTheyAreWantedAndNeverFromText) {
  EXPECT_EQ(Writer({.colour = true}).Text("a\x1b[0m", Style::kBad).Take(), "\x1b[31ma\\x1b[0m\x1b[0m");
  EXPECT_EQ(Writer({.colour = false}).Text("a", Style::kBad).Take(), "a");
}

TEST(Writer, ParagraphsWrapAtTheScreen) {
  EXPECT_EQ(Writer({.width = 25}).Paragraph("one two three four five\nsix", 2).Take(),
            "  one two three four five\n  six\n");
  EXPECT_EQ(Writer({.width = 24}).Paragraph("one two three four fives x", 2).Take(),
            "  one two three four\n  fives x\n");
}

}  // namespace
}  // namespace hydrant::client
