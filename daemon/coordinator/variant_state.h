// A variant's state is a function of the evaluation, its step, its checks and what is published; never a record. Pure.
#ifndef HYDRANT_DAEMON_COORDINATOR_VARIANT_STATE_H_
#define HYDRANT_DAEMON_COORDINATOR_VARIANT_STATE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/coordinator/waiting.h"

namespace hydrant {

enum class VariantState {
  kPending, kEvaluating, kReady, kBuilding, kTesting, kCached, kFailed, kDependencyFailed, kImpossible, kWaiting, kCancelled,
};
inline constexpr int kVariantStateCount = 11;
std::string_view VariantStateName(VariantState state);
// Cached, failed, dependency_failed, impossible, cancelled.
bool IsFinal(VariantState state);

struct CheckView {
  std::string name, outcome;  // pending pass fail skipped error
  std::string cause;          // the class
  std::string architecture, driver, message;
  bool simulated = false;
  AttemptId attempt;
};

struct VariantView {
  VariantState state = VariantState::kPending;
  std::string cause, message, root;
  std::string held_by;
  std::vector<CheckView> checks;
};

VariantView Describe(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant,
                     const WaitingRule& rule);

// Final or waiting: nothing of it that an evaluation would wait for.
bool IsSettled(const VariantView& view);

// True when every check that the gate asks for has passed (or checks are advisory).
bool ChecksPassed(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_VARIANT_STATE_H_
