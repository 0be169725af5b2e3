#include "daemon/evaluate/line_process.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using Kind = LineProcessEnd::Kind;

struct Told {
  std::vector<std::string> lines;
  LineProcessEnd end;
};

Told Shell(
    const std::string& script, absl::Duration patience = absl::Minutes(1), bool of_use = true,
    const std::string& input = "", const std::function<bool()>& stop = [] { return false; }) {
  Told told;
  const LineProcess process{.argv = {"/bin/sh", "-c", script},
                            .env = {{"PATH", "/usr/bin:/bin"}},
                            .input = input,
                            .patience = patience};
  const auto take = [&](std::string_view line) {
    told.lines.emplace_back(line);
    return of_use;
  };
  const auto end = RunLineProcess(process, take, stop);
  EXPECT_TRUE(end.ok()) << end.status();
  if (end.ok()) told.end = *end;
  return told;
}

TEST(LineProcessTest, LinesAndTheLastWithoutItsEnd) {
  const Told told = Shell("printf 'a\\n\\nb' >&2; exit 3");
  EXPECT_THAT(told.lines, ElementsAre("a", "", "b"));
  EXPECT_EQ(told.end.status.code, 3);
}

TEST(LineProcessTest, ItSeesNothingOfOurEnvironment) {
  setenv("HYDRANT_TOKEN", "secret", 1);
  EXPECT_THAT(Shell("echo \"[$HYDRANT_TOKEN]\" >&2").lines, ElementsAre("[]"));
  unsetenv("HYDRANT_TOKEN");
}

TEST(LineProcessTest, InputLargerThanAPipe) {
  EXPECT_THAT(Shell("wc -c >&2", absl::Minutes(1), true, std::string(1'000'000, 'x')).lines,
              ElementsAre("1000000"));
}

TEST(LineProcessTest, InputThatNobodyReads) {
  EXPECT_EQ(Shell("exec <&-; exit 0", absl::Minutes(1), true, std::string(1'000'000, 'x')).end.status.code,
            0);
}

TEST(LineProcessTest, ALineIsCutWhereItIsTooLong) {
  const Told told = Shell("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo end >&2");
  ASSERT_EQ(told.lines.size(), 2);
  EXPECT_EQ(told.lines[0].size(), kLongestLine);
  EXPECT_EQ(told.lines[1], "end");
}

TEST(LineProcessTest, SilenceEndsItsPatience) {
  EXPECT_EQ(Shell("exec sleep 600", absl::Milliseconds(50)).end.kind, Kind::kOutOfPatience);
}

TEST(LineProcessTest, AFloodOfNoUseEndsItsPatienceToo) {
  std::string script = "exec yes >&2";
  EXPECT_EQ(Shell(script, absl::Milliseconds(200), false).end.kind, Kind::kOutOfPatience);
}

TEST(LineProcessTest, StoppedWhenAsked) {
  const Told told = Shell("trap '' TERM; exec sleep 0.2", absl::Minutes(1), true, "", [] { return true; });
  EXPECT_EQ(told.end.kind, Kind::kStopped);
}

TEST(LineProcessTest, AGrandchildThatKeepsThePipeHoldsNobodyUp) {
  EXPECT_THAT(Shell("sleep 2 & echo done >&2").lines, ElementsAre("done"));
}

TEST(LineProcessTest, NoSuchProgramIsNotFound) {
  const LineProcess process{.argv = {"no-such-program"}, .patience = absl::Minutes(1)};
  const auto end = RunLineProcess(
      process, [](std::string_view) { return true; }, [] { return false; });
  EXPECT_TRUE(absl::IsNotFound(end.status()));
}

}  // namespace
}  // namespace hydrant
