// What passed becomes public: the outputs of a step once it succeeded and the checks of some variant of it passed.
#include <algorithm>
#include <utility>

#include "daemon/coordinator/coordinator.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// A publication waits for an upstream cache or a reference: soon enough once it is there, seldom enough for the log.
constexpr absl::Duration kLongestPause = absl::Minutes(1);

}  // namespace

std::map<StepId, std::vector<std::string>> Coordinator::Publishable() {
  FarmState& state = *state_;
  const absl::Time now = options_.clock.Now();
  std::map<StepId, std::vector<std::string>> passed;
  const auto due = std::exchange(state.publish_due, {});
  for (StepId step : due) {
    // What is not ready for it yet becomes due again when its step or a check moves.
    if (state.graph.state(step) != StepState::kSucceeded) continue;
    for (const VariantRef& ref : state.users[step]) {
      const EvaluationEntry& evaluation = state.evaluations.at(ref.evaluation);
      const VariantEntry& variant = evaluation.variants[ref.place];
      const bool asks = evaluation.wanting && variant.step == step && variant.record.cause == Cause::kNone;
      if (!asks || variant.published || !ChecksPassed(state, evaluation, variant)) continue;
      if (Published(state, variant)) {
        NotePublished(step);
        break;
      }
      auto failed = state.unpublished.find(step);
      if (failed != state.unpublished.end() && failed->second.not_before > now) {
        state.publish_due.insert(step);
        break;
      }
      for (const auto& [name, path] : variant.record.outputs) passed[step].push_back(path);
      break;
    }
  }
  return passed;
}

void Coordinator::NotePublished(StepId step) {
  for (const VariantRef& ref : state_->users[step]) {
    EvaluationEntry& evaluation = state_->evaluations.at(ref.evaluation);
    VariantEntry& variant = evaluation.variants[ref.place];
    if (variant.step != step) continue;
    variant.published = true;
    evaluation.changed = true;
  }
  state_->unpublished.erase(step);
  ++version_;
  changed_.NotifyAll();
}

void Coordinator::NoteUnpublished(StepId step, const absl::Status& why) {
  Unpublished& failed = state_->unpublished[step];
  const std::string reason(why.message());
  if (failed.reason != reason) {
    Log(LogLevel::kWarning, "not published", {{"derivation", state_->graph.spec(step).derivation}, {"reason", reason}});
  }
  failed.reason = reason;
  failed.not_before = options_.clock.Now() + std::min(kLongestPause, BackoffAfter(++failed.failures));
  state_->publish_due.insert(step);
}

bool Coordinator::PublishPassed() {
  std::map<StepId, std::vector<std::string>> passed;
  {
    MutexLock lock(mu_);
    passed = Publishable();
  }
  bool moved = false;
  for (auto next = passed.begin(); next != passed.end(); ++next) {
    const auto& [step, roots] = *next;
    auto published = options_.publisher.Publish(roots);
    MutexLock lock(mu_);
    if (published.ok()) {
      NotePublished(step);
      moved = true;
      continue;
    }
    NoteUnpublished(step, published.status());
    stale_ = stale_ || IsUnknownCommit(published.status());
    if (published.status().code() != absl::StatusCode::kUnavailable) continue;
    // Nor would the others be.
    while (++next != passed.end()) state_->publish_due.insert(next->first);
    break;
  }
  return moved;
}

}  // namespace hydrant
