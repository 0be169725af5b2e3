#include "lib/base/log.h"

#include <gtest/gtest.h>

#include <regex>

namespace hydrant {
namespace {

std::string Logged(LogFormat format, LogLevel level, std::string_view event,
                   std::initializer_list<LogField> fields) {
  ConfigureLog(format, LogLevel::kInfo);
  testing::internal::CaptureStderr();
  Log(level, event, fields);
  return testing::internal::GetCapturedStderr();
}

TEST(LogTest, TextIsOneLineOfKeysAndQuotedValues) {
  const std::string line =
      Logged(LogFormat::kText, LogLevel::kWarning, "lease lost",
             {{"attempt", "a7"}, {"cause", "no \"word\"\nsince"}, {"after", 30}, {"empty", ""}});
  EXPECT_TRUE(
      std::regex_match(line, std::regex("20..-..-..T..:..:..\\....Z warning lease lost attempt=a7 "
                                        "cause=\"no \\\\\"word\\\\\"\\\\nsince\" after=30 empty=\"\"\n")))
      << line;
}

TEST(LogTest, JsonEscapesControlCharactersAndMendsBadUtf8) {
  const std::string line =
      Logged(LogFormat::kJson, LogLevel::kInfo, "x", {{"v", std::string("\x1b\xff\"\xc3\xa4")}});
  EXPECT_NE(line.find("\"level\":\"info\",\"event\":\"x\",\"v\":\"\\u001b\xEF\xBF\xBD\\\"\xc3\xa4\"}\n"),
            std::string::npos)
      << line;
}

TEST(LogTest, BelowTheLeastLevelNothingIsWritten) {
  EXPECT_EQ(Logged(LogFormat::kText, LogLevel::kDebug, "quiet", {}), "");
}

}  // namespace
}  // namespace hydrant
