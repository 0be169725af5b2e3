#include "daemon/graph/check_state.h"

#include <array>

namespace hydrant {
namespace {

using S = CheckState;
using E = CheckEvent;

struct Row {
  S state;
  E event;
  S next;
};

// Every arrow of the drawing in daemon/README.md; what is not here cannot happen.
constexpr Row kTable[] = {
    {S::kWanted, E::kInputsStaged, S::kReady},  {S::kWanted, E::kInputsGone, S::kSkipped},
    {S::kReady, E::kGranted, S::kRunning},      {S::kReady, E::kInputsGone, S::kSkipped},
    {S::kRunning, E::kPassed, S::kPassed},      {S::kRunning, E::kFailed, S::kFailed},
    {S::kRunning, E::kFailedByFarm, S::kReady}, {S::kRunning, E::kInputsGone, S::kSkipped},
    {S::kPassed, E::kRetried, S::kWanted},      {S::kFailed, E::kRetried, S::kWanted},
    {S::kSkipped, E::kRetried, S::kWanted},
};

constexpr std::array<std::string_view, kCheckStateCount> kNames = {"wanted", "ready",  "running",
                                                                   "passed", "failed", "skipped"};

}  // namespace

std::optional<CheckState> NextCheckState(CheckState state, CheckEvent event) {
  for (const Row& row : kTable) {
    if (row.state == state && row.event == event) return row.next;
  }
  return std::nullopt;
}

bool IsFinal(CheckState state) { return state == S::kPassed || state == S::kFailed || state == S::kSkipped; }

std::string_view CheckStateName(CheckState state) { return kNames[static_cast<size_t>(state)]; }

std::optional<CheckState> ParseCheckState(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<CheckState>(i);
  }
  return std::nullopt;
}

}  // namespace hydrant
