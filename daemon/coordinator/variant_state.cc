#include "daemon/coordinator/variant_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "daemon/audit/refusal.h"

namespace hydrant {
namespace {

struct Waits {
  bool waiting = false;
  std::string reason;
};

Waits StepWaits(const FarmState& state, StepId step, const WaitingRule& rule) {
  const Nobody* nobody = WaitingFor(state, step, rule);
  if (nobody == nullptr) return {};
  if (state.graph.state(step) == StepState::kReady) return {true, nobody->why};
  return {true, absl::StrCat("its input ", state.graph.spec(state.waits_for.at(step)).name, " waits: ", nobody->why)};
}

CheckView ViewOf(const CheckRecord& check) {
  CheckView view{.name = check.name, .outcome = "pending", .cause = std::string(CauseName(check.cause)),
                 .architecture = check.architecture, .driver = check.driver, .message = check.message,
                 .simulated = check.simulated, .attempt = check.attempt};
  if (check.state == CheckState::kPassed) view.outcome = "pass";
  if (check.state == CheckState::kSkipped) view.outcome = "skipped";
  if (check.state == CheckState::kFailed) {
    view.outcome = IsRetryable(check.cause) ? "error" : "fail";
  }
  return view;
}

void Set(VariantView& view, VariantState to, std::string message = "") {
  view.state = to;
  if (!message.empty()) view.message = std::move(message);
}

// Its step has succeeded: what the checks and the publication make of it.
void DescribeSucceeded(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant,
                       const WaitingRule& rule, VariantView& view) {
  if (variant.published && ChecksPassed(state, evaluation, variant)) return Set(view, VariantState::kCached);
  if (evaluation.declared->matrix.gate.checks_required) {
    Waits waits;
    bool testing = false;
    for (const std::string& key : variant.checks) {
      auto found = state.checks.find(key);
      if (found == state.checks.end()) continue;
      const CheckRecord& check = found->second.record;
      if (check.state == CheckState::kFailed) {
        view.cause = CauseName(check.cause);
        view.root = variant.record.derivation;
        return Set(view, VariantState::kFailed, absl::StrCat("check ", check.name, ": ", check.message));
      }
      if (check.state == CheckState::kSkipped) {
        waits = {true, absl::StrCat("check ", check.name, " was skipped: ", check.message)};
      } else if (check.state != CheckState::kPassed) {
        const std::optional<StepId>& environment = found->second.environment_step;
        const Nobody* nobody = check.state == CheckState::kWanted && environment
                                   ? WaitingFor(state, *environment, rule)
                                   : WaitingFor(state, found->second, rule);
        if (nobody != nullptr) {
          waits = {true, absl::StrCat("check ", check.name, " waits: ", nobody->why)};
        } else {
          testing = true;
        }
      }
    }
    if (testing) return Set(view, VariantState::kTesting);
    if (waits.waiting) return Set(view, VariantState::kWaiting, waits.reason);
  }
  if (variant.published) return Set(view, VariantState::kCached);
  auto failed = state.unpublished.find(*variant.step);
  Set(view, VariantState::kBuilding, failed == state.unpublished.end()
                                         ? "built; to be published"
                                         : absl::StrCat("built, but not published: ", failed->second.reason));
}

void DescribeStep(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant,
                  const WaitingRule& rule, VariantView& view) {
  const StepId step = *variant.step;
  const StepDetail& detail = state.graph.detail(step);
  view.held_by = detail.held_by;
  Waits waits;
  switch (state.graph.state(step)) {
    case StepState::kBlocked:
      waits = StepWaits(state, step, rule);
      return Set(view, waits.waiting ? VariantState::kWaiting : VariantState::kPending, waits.reason);
    case StepState::kBackingOff:
      return Set(view, VariantState::kPending, absl::StrCat("tried again soon after: ", detail.message));
    case StepState::kReady:
      waits = StepWaits(state, step, rule);
      return Set(view, waits.waiting ? VariantState::kWaiting : VariantState::kReady, waits.reason);
    case StepState::kRunning:
    case StepState::kBuilt:
      return Set(view, VariantState::kBuilding);
    case StepState::kFailed:
      view.cause = CauseName(detail.cause);
      view.root = variant.record.derivation;
      return Set(view, VariantState::kFailed, detail.message);
    case StepState::kDependencyFailed:
      view.cause = CauseName(Cause::kDependencyFailed);
      view.root = detail.root;
      return Set(view, VariantState::kDependencyFailed, detail.message);
    case StepState::kCancelled:
      view.cause = CauseName(Cause::kCancelled);
      return Set(view, VariantState::kCancelled);
    case StepState::kSucceeded:
      return DescribeSucceeded(state, evaluation, variant, rule, view);
  }
}

void DescribeUnknown(const EvaluationEntry& evaluation, VariantView& view) {
  switch (evaluation.record.state) {
    case EvaluationState::kRequested: return Set(view, VariantState::kPending);
    case EvaluationState::kCancelled:
      view.cause = CauseName(Cause::kCancelled);
      return Set(view, VariantState::kCancelled);
    case EvaluationState::kEvaluating: return Set(view, VariantState::kEvaluating);
    default:
      view.cause = CauseName(Cause::kUnknown);
      return Set(view, VariantState::kFailed, evaluation.record.message.empty() ? "it was not evaluated"
                                                                                : evaluation.record.message);
  }
}

constexpr std::string_view kNames[] = {"pending", "evaluating", "ready", "building", "testing", "cached",
                                       "failed", "dependency_failed", "impossible", "waiting", "cancelled"};

}  // namespace

std::string_view VariantStateName(VariantState state) { return kNames[static_cast<int>(state)]; }

bool IsFinal(VariantState state) {
  switch (state) {
    case VariantState::kCached:
    case VariantState::kFailed:
    case VariantState::kDependencyFailed:
    case VariantState::kImpossible:
    case VariantState::kCancelled: return true;
    default: return false;
  }
}

bool IsSettled(const VariantView& view) { return IsFinal(view.state) || view.state == VariantState::kWaiting; }

bool ChecksPassed(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant) {
  if (!evaluation.declared->matrix.gate.checks_required) return true;
  return std::all_of(variant.checks.begin(), variant.checks.end(), [&](const std::string& key) {
    auto found = state.checks.find(key);
    return found != state.checks.end() && found->second.record.state == CheckState::kPassed;
  });
}

VariantView Describe(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant,
                     const WaitingRule& rule) {
  VariantView view;
  for (const std::string& key : variant.checks) {
    auto found = state.checks.find(key);
    if (found != state.checks.end()) view.checks.push_back(ViewOf(found->second.record));
  }
  const VariantRecord& record = variant.record;
  if (!variant.known) {
    DescribeUnknown(evaluation, view);
  } else if (record.cause != Cause::kNone) {
    view.cause = CauseName(record.cause);
    Set(view, record.cause == Cause::kCancelled   ? VariantState::kCancelled
              : IsEvaluatorDeath(record.cause)    ? VariantState::kFailed
              : IsRefusal(record.cause)           ? VariantState::kFailed  // it could have been built
                                                  : VariantState::kImpossible,
        record.message);
  } else if (variant.step) {
    DescribeStep(state, evaluation, variant, rule, view);
  } else {
    Set(view, VariantState::kPending);
  }
  // Others may go on with the same step; what was cancelled does not come back with it.
  if (evaluation.record.state == EvaluationState::kCancelled && !IsFinal(view.state)) {
    view.cause = CauseName(Cause::kCancelled);
    view.message.clear();
    Set(view, VariantState::kCancelled);
  }
  return view;
}

}  // namespace hydrant
