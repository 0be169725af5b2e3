#include "daemon/graph/check_state.h"

#include <gtest/gtest.h>

#include <string>

namespace hydrant {
namespace {

constexpr const char* kEvents[kCheckEventCount] = {"inputs_staged",  "granted",     "passed", "failed",
                                                   "failed_by_farm", "inputs_gone", "retried"};

std::string DrawTable() {
  std::string drawn = "\n";
  for (int s = 0; s < kCheckStateCount; ++s) {
    drawn += std::string(CheckStateName(static_cast<CheckState>(s))) + ":\n";
    for (int e = 0; e < kCheckEventCount; ++e) {
      const auto next = NextCheckState(static_cast<CheckState>(s), static_cast<CheckEvent>(e));
      if (!next.has_value()) continue;
      drawn += "  " + std::string(kEvents[e]) + " -> " + std::string(CheckStateName(*next)) + "\n";
    }
  }
  return drawn;
}

TEST(CheckStateTest, EveryPairOfStateAndEventDoesWhatTheDrawingSays) {
  EXPECT_EQ(DrawTable(), R"(
wanted:
  inputs_staged -> ready
  inputs_gone -> skipped
ready:
  granted -> running
  inputs_gone -> skipped
running:
  passed -> passed
  failed -> failed
  failed_by_farm -> ready
  inputs_gone -> skipped
passed:
  retried -> wanted
failed:
  retried -> wanted
skipped:
  retried -> wanted
)");
}

TEST(CheckStateTest, NamesReadBack) {
  for (int s = 0; s < kCheckStateCount; ++s) {
    const auto state = static_cast<CheckState>(s);
    EXPECT_EQ(ParseCheckState(CheckStateName(state)), state);
  }
  EXPECT_EQ(ParseCheckState("pass"), std::nullopt);
}

}  // namespace
}  // namespace hydrant
