#include "daemon/graph/step_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

// Whether any event leads from one to the other.
bool HasArrow(StepState from, StepState to) {
  for (int event = 0; event < kStepEventCount; ++event) {
    if (NextStepState(from, static_cast<StepEvent>(event)) == to) return true;
  }
  return false;
}

std::string RootOf(const StepSpec& spec, StepState state, const StepDetail& detail) {
  return state == StepState::kDependencyFailed && !detail.root.empty() ? detail.root : spec.derivation;
}

}  // namespace

bool IsDead(StepState state) { return IsFinal(state) && state != StepState::kSucceeded; }

StepDetail BlameOn(const StepSpec& input, StepState state, const StepDetail& detail) {
  StepDetail blame;
  blame.root = RootOf(input, state, detail);
  const bool cancelled = state == StepState::kCancelled ||
                         (state == StepState::kDependencyFailed && detail.cause == Cause::kCancelled);
  blame.cause = cancelled ? Cause::kCancelled : Cause::kDependencyFailed;
  if (state == StepState::kDependencyFailed) {
    blame.message = detail.message;
  } else if (state == StepState::kCancelled) {
    blame.message = absl::StrCat(input.name, " was cancelled");
  } else {
    blame.message = absl::StrCat(input.name, " failed", detail.message.empty() ? "" : ": ", detail.message);
  }
  return blame;
}

StepPlanner::Shadow& StepPlanner::At(StepId step) {
  const auto found = shadows_.find(step);
  if (found != shadows_.end()) return found->second;
  const StepGraph::Node& node = graph_.nodes_[step];
  return shadows_.emplace(step, Shadow{node.state, node.detail, node.waiting, node.dead}).first->second;
}

StepState StepPlanner::StateOf(StepId step) const {
  const auto found = shadows_.find(step);
  return found != shadows_.end() ? found->second.state : graph_.state(step);
}

const StepDetail& StepPlanner::DetailOf(StepId step) const {
  const auto found = shadows_.find(step);
  return found != shadows_.end() ? found->second.detail : graph_.detail(step);
}

absl::Status StepPlanner::Refusal(StepId step, std::string_view what) const {
  return absl::FailedPreconditionError(absl::StrCat("step ", graph_.spec(step).derivation, " is ",
                                                    std::string(StepStateName(StateOf(step))), ": ",
                                                    std::string(what)));
}

absl::Status StepPlanner::Happen(StepId step, StepEvent event, StepDetail detail) {
  if (absl::Status chosen = Choose(step, event, detail); !chosen.ok()) return chosen;
  const std::optional<StepState> next = NextStepState(StateOf(step), event);
  if (!next.has_value()) {
    return Refusal(step, absl::StrCat(std::string(StepEventName(event)), " cannot happen to it"));
  }
  if (*next == StepState::kFailed && detail.root.empty()) detail.root = graph_.spec(step).derivation;
  if (*next == StepState::kCancelled && detail.cause == Cause::kNone) detail.cause = Cause::kCancelled;
  Move(step, *next, std::move(detail));
  Follow();
  return absl::OkStatus();
}

absl::Status StepPlanner::Choose(StepId step, StepEvent& event, StepDetail& detail) {
  const Shadow& now = At(step);
  const bool retried = event == StepEvent::kRetriedReady || event == StepEvent::kRetriedBlocked;
  if (event == StepEvent::kInputsSucceeded && now.waiting > 0)
    return Refusal(step, "an input has not succeeded");
  if (event == StepEvent::kInputFailed) {
    if (now.dead == 0) return Refusal(step, "no input of it failed");
    if (detail.root.empty()) Blame(step, "", detail);
  }
  if (!retried) return absl::OkStatus();
  if (now.dead == 0) {
    event = now.waiting == 0 ? StepEvent::kRetriedReady : StepEvent::kRetriedBlocked;
    return absl::OkStatus();
  }
  StepDetail blame;
  Blame(step, "", blame);
  if (now.state != StepState::kCancelled) {
    return Refusal(step, absl::StrCat("retry ", blame.root, ", which it needs and which will not succeed"));
  }
  event = StepEvent::kInputFailed;
  detail = std::move(blame);
  return absl::OkStatus();
}

void StepPlanner::Settle(StepId step) {
  Consider(step, "");
  Follow();
}

void StepPlanner::Move(StepId step, StepState to, StepDetail detail) {
  Shadow& now = At(step);
  const StepState from = now.state;
  moved_.push_back({step, IsDead(from) ? RootOf(graph_.spec(step), from, now.detail) : std::string()});
  moves_.push_back({step, from, to, detail});
  now.state = to;
  now.detail = std::move(detail);
  const int dead = IsDead(to) - IsDead(from);
  const int waiting = (to != StepState::kSucceeded) - (from != StepState::kSucceeded);
  if (dead == 0 && waiting == 0) return;
  for (const StepId dependent : graph_.dependents(step)) {
    Shadow& other = At(dependent);
    other.dead += dead;
    other.waiting += waiting;
  }
}

void StepPlanner::Follow() {
  while (!moved_.empty()) {
    const Moved moved = std::move(moved_.front());
    moved_.pop_front();
    for (const StepId dependent : graph_.dependents(moved.step)) Consider(dependent, moved.old_root);
  }
}

void StepPlanner::Consider(StepId step, std::string_view old_root) {
  const StepState state = StateOf(step);
  if (state == StepState::kBlocked) return ConsiderBlocked(step, At(step));
  if (state != StepState::kDependencyFailed) return;
  const Shadow& now = At(step);
  if (now.dead == 0) {
    return Move(step, now.waiting == 0 ? StepState::kReady : StepState::kBlocked, StepDetail());
  }
  // Still held by another input: it must not blame one that is tried again.
  StepDetail blame;
  if (!old_root.empty() && now.detail.root == old_root && Blame(step, old_root, blame)) {
    Move(step, StepState::kDependencyFailed, std::move(blame));
  }
}

void StepPlanner::ConsiderBlocked(StepId step, const Shadow& now) {
  if (now.dead > 0) {
    StepDetail blame;
    Blame(step, "", blame);
    const bool to_cancelled = blame.cause == Cause::kCancelled && !graph_.wanted(step);
    Move(step, to_cancelled ? StepState::kCancelled : StepState::kDependencyFailed, std::move(blame));
  } else if (now.waiting == 0) {
    Move(step, StepState::kReady, StepDetail());
  }
}

bool StepPlanner::Blame(StepId step, std::string_view old_root, StepDetail& detail) const {
  for (const StepId input : graph_.inputs(step)) {
    const StepState state = StateOf(input);
    if (!IsDead(state)) continue;
    const StepSpec& spec = graph_.spec(input);
    if (!old_root.empty() && RootOf(spec, state, DetailOf(input)) == old_root) continue;
    detail = BlameOn(spec, state, DetailOf(input));
    return true;
  }
  return false;
}

absl::Status StepPlanner::Replay(const std::vector<StepMove>& moves) {
  for (const StepMove& move : moves) {
    const Shadow& now = At(move.step);
    if (now.state != move.from) {
      return Refusal(move.step,
                     absl::StrCat("a move from ", std::string(StepStateName(move.from)), " was overtaken"));
    }
    const bool fits =
        HasArrow(move.from, move.to) && (move.to != StepState::kBlocked || now.dead == 0) &&
        (move.to != StepState::kReady || move.from == StepState::kBackingOff || now.waiting == 0);
    if (!fits) {
      return Refusal(move.step, absl::StrCat("it cannot become ", std::string(StepStateName(move.to))));
    }
    Move(move.step, move.to, move.detail);
  }
  return absl::OkStatus();
}

}  // namespace hydrant
