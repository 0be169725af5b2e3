// A variant's state is a function of the evaluation, its step, its checks and what is published; never a record. Pure.
#ifndef HYDRANT_DAEMON_COORDINATOR_VARIANT_STATE_H_
#define HYDRANT_DAEMON_COORDINATOR_VARIANT_STATE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/schedule/scheduler.h"

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

// When something ready counts as waiting, and why no worker takes it.
struct WaitingRule {
  absl::Time now;
  absl::Duration after;
};

VariantView Describe(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant,
                     const WaitingRule& rule);

// "no worker offers …": the reason of a demand that nobody can take now; "" when somebody could.
std::string WhyNobody(const FarmState& state, const Demand& demand);
Demand DemandOf(const FarmState& state, StepId step);
Demand DemandOf(const CheckEntry& check);

// True when every check that the gate asks for has passed (or checks are advisory).
bool ChecksPassed(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_VARIANT_STATE_H_
