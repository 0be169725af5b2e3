#include "daemon/graph/step_state.h"

#include <array>

namespace hydrant {
namespace {

using S = StepState;
using E = StepEvent;

struct Row {
  S state;
  E event;
  S next;
};

// Every arrow of the drawing in daemon/README.md; what is not here cannot happen.
constexpr Row kTable[] = {
    {S::kBlocked, E::kInputsSucceeded, S::kReady},
    {S::kBlocked, E::kFoundInCache, S::kSucceeded},
    {S::kBlocked, E::kInputFailed, S::kDependencyFailed},
    {S::kBlocked, E::kCancelled, S::kCancelled},

    {S::kReady, E::kGranted, S::kRunning},
    {S::kReady, E::kFoundInCache, S::kSucceeded},
    {S::kReady, E::kCancelled, S::kCancelled},

    {S::kRunning, E::kOutputsVerified, S::kBuilt},
    {S::kRunning, E::kFailedByFarm, S::kBackingOff},
    {S::kRunning, E::kFailedForGood, S::kFailed},
    {S::kRunning, E::kCancelled, S::kCancelled},

    {S::kBuilt, E::kStaged, S::kSucceeded},
    {S::kBuilt, E::kFailedByFarm, S::kBackingOff},

    {S::kBackingOff, E::kBackoffOver, S::kReady},
    {S::kBackingOff, E::kFoundInCache, S::kSucceeded},
    {S::kBackingOff, E::kFailedForGood, S::kFailed},
    {S::kBackingOff, E::kCancelled, S::kCancelled},

    {S::kFailed, E::kRetriedReady, S::kReady},
    {S::kFailed, E::kRetriedBlocked, S::kBlocked},
    {S::kFailed, E::kFoundInCache, S::kSucceeded},

    {S::kCancelled, E::kRetriedReady, S::kReady},
    {S::kCancelled, E::kRetriedBlocked, S::kBlocked},
    {S::kCancelled, E::kInputFailed, S::kDependencyFailed},
    {S::kCancelled, E::kFoundInCache, S::kSucceeded},

    {S::kDependencyFailed, E::kRetriedReady, S::kReady},
    {S::kDependencyFailed, E::kRetriedBlocked, S::kBlocked},
    {S::kDependencyFailed, E::kInputFailed, S::kDependencyFailed},
    {S::kDependencyFailed, E::kFoundInCache, S::kSucceeded},
};

constexpr std::array<std::string_view, kStepStateCount> kStateNames = {
    "blocked", "ready",     "running",          "built", "succeeded", "backing_off",
    "failed",  "cancelled", "dependency_failed"};

constexpr std::array<std::string_view, kStepEventCount> kEventNames = {
    "inputs_succeeded", "found_in_cache", "granted",         "outputs_verified",
    "staged",           "failed_by_farm", "failed_for_good", "backoff_over",
    "input_failed",     "cancelled",      "retried_ready",   "retried_blocked"};

}  // namespace

std::optional<StepState> NextStepState(StepState state, StepEvent event) {
  for (const Row& row : kTable) {
    if (row.state == state && row.event == event) return row.next;
  }
  return std::nullopt;
}

bool IsFinal(StepState state) {
  return state == S::kSucceeded || state == S::kFailed || state == S::kCancelled ||
         state == S::kDependencyFailed;
}

std::string_view StepStateName(StepState state) { return kStateNames[static_cast<size_t>(state)]; }

std::optional<StepState> ParseStepState(std::string_view name) {
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    if (kStateNames[i] == name) return static_cast<StepState>(i);
  }
  return std::nullopt;
}

std::string_view StepEventName(StepEvent event) { return kEventNames[static_cast<size_t>(event)]; }

}  // namespace hydrant
