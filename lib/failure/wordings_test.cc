#include "lib/failure/wordings.h"

#include <string>

#include "gtest/gtest.h"
#include "lib/failure/classify.h"

namespace hydrant {
namespace {

// The shortest text of a wording.
std::string Example(const Wording& wording) {
  std::string text = wording.pattern.text[0] == ' ' ? "x" : "";
  for (const char c : wording.pattern.text) {
    if (c == '*') text += " x ";
    if (c != '*' && c != '^') text += c;
  }
  return text + (text.back() == ' ' ? "x" : "");
}

TEST(Wordings, EachOfAnEvaluationDecidesItsOwnText) {
  for (const Wording& wording : EvaluationWordings()) {
    EXPECT_EQ(ClassifyEvaluation("error: " + Example(wording)).cause, wording.cause) << wording.pattern.text;
  }
  for (const Wording& wording : EvaluatorDeathWordings()) {
    EXPECT_EQ(ClassifyEvaluation(Example(wording)).cause, wording.cause) << wording.pattern.text;
  }
}

TEST(Wordings, EachOfAnAttemptDecidesItsOwnText) {
  for (const Wording& wording : AttemptWordings()) {
    EXPECT_EQ(ClassifyAttempt(9, "error: " + Example(wording), "").cause, wording.cause) << wording.pattern.text;
  }
  for (const Wording& wording : BuilderWordings()) {
    EXPECT_EQ(ClassifyAttempt(3, "error: " + Example(wording), "").cause, wording.cause) << wording.pattern.text;
  }
}

TEST(Wordings, EachOfALogOutranksAPlainBuilderFailure) {
  for (const Wording& wording : LogWordings()) {
    EXPECT_EQ(ClassifyAttempt(3, "builder for 'D' failed with exit code 1", Example(wording)).cause,
              wording.cause)
        << wording.pattern.text;
  }
}

TEST(Wordings, EachOfACheckDecidesItsOwnText) {
  for (const Wording& wording : CheckWordings()) {
    EXPECT_EQ(ClassifyCheck(Example(wording)).cause, wording.cause) << wording.pattern.text;
  }
}

TEST(Wordings, EachNamesItsSource) {
  for (auto table : {EvaluationWordings(), EvaluatorDeathWordings(), AttemptWordings(), LogWordings(),
                     BuilderWordings(), CheckWordings()}) {
    for (const Wording& wording : table) EXPECT_STRNE(wording.source, "") << wording.pattern.text;
  }
}

}  // namespace
}  // namespace hydrant
