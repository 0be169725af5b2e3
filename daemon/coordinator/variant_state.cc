#include "daemon/coordinator/variant_state.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hydrant {
namespace {

struct Waits {
  bool waiting = false;
  std::string reason;
};

Waits StepWaits(const FarmState& state, StepId step, const WaitingRule& rule) {
  auto since = state.step_unplaceable.find(step);
  if (since == state.step_unplaceable.end() || rule.now - since->second < rule.after) return {};
  return {true, WhyNobody(state, DemandOf(state, step))};
}

// A blocked step waits when an input that it needs waits: it could not go on whatever else ends.
Waits BlockedWaits(const FarmState& state, StepId step, const WaitingRule& rule) {
  if (state.step_unplaceable.empty()) return {};
  absl::flat_hash_set<StepId> seen = {step};
  std::vector<StepId> todo = {step};
  while (!todo.empty()) {
    const StepId next = todo.back();
    todo.pop_back();
    if (state.graph.state(next) == StepState::kReady) {
      Waits waits = StepWaits(state, next, rule);
      if (waits.waiting) {
        waits.reason = absl::StrCat("its input ", state.graph.spec(next).name, " waits: ", waits.reason);
        return waits;
      }
    }
    for (StepId input : state.graph.inputs(next)) {
      if (!IsFinal(state.graph.state(input)) && seen.insert(input).second) todo.push_back(input);
    }
  }
  return {};
}

CheckView ViewOf(const CheckRecord& check) {
  CheckView view{.name = check.name, .outcome = "pending", .cause = std::string(CauseName(check.cause)),
                 .architecture = check.architecture, .driver = check.driver, .message = check.message,
                 .simulated = check.simulated, .attempt = check.attempt};
  if (check.state == CheckState::kPassed) view.outcome = "pass";
  if (check.state == CheckState::kSkipped) view.outcome = "skipped";
  if (check.state == CheckState::kFailed) {
    view.outcome = IsRetryable(check.cause) || check.cause == Cause::kDeviceLost ? "error" : "fail";
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
        auto since = state.check_unplaceable.find(key);
        if (check.state == CheckState::kReady && since != state.check_unplaceable.end() &&
            rule.now - since->second >= rule.after) {
          waits = {true, absl::StrCat("check ", check.name, " waits: ", WhyNobody(state, DemandOf(found->second)))};
        } else {
          testing = true;
        }
      }
    }
    if (testing) return Set(view, VariantState::kTesting);
    if (waits.waiting) return Set(view, VariantState::kWaiting, waits.reason);
  }
  if (variant.published) return Set(view, VariantState::kCached);
  Set(view, VariantState::kBuilding, "built; to be published");
}

void DescribeStep(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant,
                  const WaitingRule& rule, VariantView& view) {
  const StepId step = *variant.step;
  const StepDetail& detail = state.graph.detail(step);
  view.held_by = detail.held_by;
  Waits waits;
  switch (state.graph.state(step)) {
    case StepState::kBlocked:
      waits = BlockedWaits(state, step, rule);
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

Demand DemandOf(const FarmState& state, StepId step) {
  const StepSpec& spec = state.graph.spec(step);
  Demand demand{.system = spec.system, .features = spec.features};
  auto avoid = state.avoid.find(step);
  if (avoid != state.avoid.end()) demand.avoid = avoid->second;
  return demand;
}

Demand DemandOf(const CheckEntry& check) {
  return {.gpu = check.record.gpu, .gpu_architecture = check.record.wanted_architecture, .avoid = check.avoid};
}

std::string WhyNobody(const FarmState& state, const Demand& demand) {
  std::vector<std::string> reasons;
  for (const auto& [name, worker] : state.workers.all()) {
    if (worker.state == WorkerState::kGone || worker.state == WorkerState::kRevoked) continue;
    std::string why = WhyNot(demand, worker.offer);
    if (why.empty() && worker.state == WorkerState::kConnected) return "";
    if (why.empty()) why = absl::StrCat("is ", std::string(WorkerStateName(worker.state)));
    reasons.push_back(absl::StrCat(name, " ", why));
  }
  if (reasons.empty()) return "no worker is connected";
  return absl::StrCat("no worker can take it: ", absl::StrJoin(reasons, "; "));
}

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
                                                  : VariantState::kImpossible,
        record.message);
  } else if (variant.step) {
    DescribeStep(state, evaluation, variant, rule, view);
  } else {
    Set(view, VariantState::kPending);
  }
  return view;
}

}  // namespace hydrant
