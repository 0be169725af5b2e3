#include <string>

#include "gtest/gtest.h"
#include "lib/matrix/expansion.h"

namespace hydrant {
namespace {

TEST(Glob, MatchesLikeAShell) {
  EXPECT_TRUE(GlobMatches("torch@cuda12.9-*", "torch@cuda12.9-py313-x86_64-linux"));
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_TRUE(GlobMatches("py31[2-4]", "py313"));
  EXPECT_TRUE(GlobMatches("py31[!2]", "py313"));
  EXPECT_TRUE(GlobMatches("[]]", "]"));
  EXPECT_TRUE(GlobMatches("**b*", "aab"));
  EXPECT_TRUE(GlobMatches("\\*", "*"));
}

TEST(Glob, MatchesTheWholeTextOrNot) {
  EXPECT_FALSE(GlobMatches("torch", "torchvision"));
  EXPECT_FALSE(GlobMatches("orch", "torch"));
  EXPECT_FALSE(GlobMatches("", "a"));
  EXPECT_FALSE(GlobMatches("a?", "a"));
  EXPECT_FALSE(GlobMatches("py31[2-4]", "py315"));
  EXPECT_FALSE(GlobMatches("\\*", "a"));
}

TEST(Glob, ABracketThatIsNeverClosedIsABracket) {
  EXPECT_TRUE(GlobMatches("a[b", "a[b"));
  EXPECT_FALSE(GlobMatches("a[b", "ab"));
  EXPECT_TRUE(GlobMatches("[", "["));
  EXPECT_TRUE(GlobMatches("[!", "[!"));
}

TEST(Glob, ManyStarsOverALongTextEnd) {
  std::string glob, text(20'000, 'a');
  for (int i = 0; i < 200; ++i) glob += "*a";
  EXPECT_TRUE(GlobMatches(glob, text));
  EXPECT_FALSE(GlobMatches(glob + "b", text));
}

}  // namespace
}  // namespace hydrant
