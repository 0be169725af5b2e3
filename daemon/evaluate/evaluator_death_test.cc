#include "daemon/evaluate/evaluator_death.h"

#include <signal.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

constexpr EvaluatorBounds kBounds{.memory = 1'500'000'000, .patience = absl::Seconds(60)};

LineProcessEnd Exit(int code) { return {.status = {.code = code}}; }
LineProcessEnd Signal(int signal) { return {.status = {.signal = signal}}; }

TEST(EvaluatorDeathTest, NixsOwnErrorDecides) {
  const Death death = ExplainDeath(Exit(1), "warning: x\nerror: infinite recursion encountered\n", kBounds);
  EXPECT_EQ(death.why.cause, Cause::kRecursion);
  EXPECT_FALSE(death.worth_a_retry);
}

TEST(EvaluatorDeathTest, OutOfMemoryNamesTheBoundAndMayTryAgain) {
  const Death death = ExplainDeath(
      Exit(1), "GC Warning: Out of Memory! Heap size: 499 MiB.\nerror: out of memory\n", kBounds);
  EXPECT_EQ(death.why.cause, Cause::kEvaluatorOutOfMemory);
  EXPECT_THAT(death.why.message, HasSubstr("1500 MB"));
  EXPECT_TRUE(death.worth_a_retry);
}

TEST(EvaluatorDeathTest, KilledIsMemory) {
  EXPECT_EQ(ExplainDeath(Signal(SIGKILL), "", kBounds).why.cause, Cause::kEvaluatorOutOfMemory);
}

TEST(EvaluatorDeathTest, NewerNixEndsAStackOverflowBySignal) {
  EXPECT_EQ(ExplainDeath(Signal(SIGSEGV), "", kBounds).why.cause, Cause::kStackOverflow);
}

TEST(EvaluatorDeathTest, OutOfPatienceSaysHowLongItWas) {
  const LineProcessEnd end{.kind = LineProcessEnd::Kind::kOutOfPatience, .status = {.signal = SIGTERM}};
  const Death death = ExplainDeath(end, "error: interrupted by the user", kBounds);
  EXPECT_EQ(death.why.cause, Cause::kEvaluatorTimeout);
  EXPECT_THAT(death.why.message, HasSubstr("1m"));
}

TEST(EvaluatorDeathTest, APatienceThatWasLearnedSaysOfWhat) {
  const LineProcessEnd end{.kind = LineProcessEnd::Kind::kOutOfPatience, .status = {.signal = SIGTERM}};
  const Death death = ExplainDeath(end, "", {.patience = absl::Seconds(90), .by_median = true});
  EXPECT_THAT(death.why.message, HasSubstr("1m30s (ten times the median"));
}

TEST(EvaluatorDeathTest, GarbageIsUnknownWithItsLastWordsAsText) {
  const Death death = ExplainDeath(Exit(0), "\x01\xff\xfe nonsense\n", kBounds);
  EXPECT_EQ(death.why.cause, Cause::kUnknown);
  EXPECT_THAT(death.why.message, HasSubstr("exit 0"));
  EXPECT_THAT(death.why.message, HasSubstr("??? nonsense"));
}

TEST(EvaluatorDeathTest, ASyntaxErrorSaysWhere) {
  EXPECT_EQ(
      ClassifyWords("error: syntax error, unexpected ';'\n\n       at /x/runs/run-a1B2c3/recipe.nix:3:22:\n")
          .message,
      "syntax error, unexpected ';' (recipe.nix:3:22)");
  EXPECT_EQ(ClassifyWords("error: undefined variable 'x'\n       at /tree/a.nix:1:5:\n\n  1| x").message,
            "undefined variable 'x' (/tree/a.nix:1:5)");
  EXPECT_EQ(ClassifyWords("error: syntax error, unexpected ';'\n").message, "syntax error, unexpected ';'");
}

TEST(EvaluatorDeathTest, PrintableTextKeepsUtf8AndNothingElse) {
  EXPECT_EQ(PrintableText("a\n‘é’ 𝄞\t"), "a\n‘é’ 𝄞\t");
  EXPECT_EQ(PrintableText("\xc3|\xe2\x80|\xed\xa0\x80|\xf5|\x80"), "?|??|???|?|?");
  EXPECT_EQ(PrintableText("a\xc2\x9b"
                          "31m|\u202e|\u2066|\u00a0|\u2030"),
            "a?31m|?|?|\u00a0|\u2030");
}

}  // namespace
}  // namespace hydrant
