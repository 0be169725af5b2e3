// What passed becomes public: the outputs of a step once it succeeded and the checks of some variant of it passed.
#include <algorithm>
#include <utility>

#include "daemon/coordinator/coordinator.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/licence.h"

namespace hydrant {
namespace {

// A publication waits for an upstream cache or a reference: soon enough once it is there, seldom enough for the log.
constexpr absl::Duration kLongestPause = absl::Minutes(1);

PublishingTiers TiersOf(Tier roots, const Matrix& matrix) {
  const auto in_cache = [](Tier tier) { return tier == Tier::kPublic ? NarInfoTier::kPublic : NarInfoTier::kPrivate; };
  return {.roots = in_cache(roots),
          .own = [in_cache, policy = LicencePolicy(matrix)](std::string_view name) -> std::optional<NarInfoTier> {
            const std::optional<Tier> tier = policy.OfName(name);
            return tier ? std::optional(in_cache(*tier)) : std::nullopt;
          }};
}

}  // namespace

Tier Coordinator::TierOf(const EvaluationEntry& evaluation, const VariantEntry& variant) {
  // What was evaluated before tiers were recorded is as private as what is in neither list.
  const Tier unknown = evaluation.declared->matrix.licence_declared ? Tier::kPrivate : Tier::kPublic;
  return ParseTier(variant.record.tier).value_or(unknown);
}

std::set<EvaluationId> Coordinator::PrivateIn(const std::vector<VariantRef>& users) const {
  std::set<EvaluationId> evaluations;
  for (const VariantRef& ref : users) {
    const EvaluationEntry& evaluation = state_->evaluations.at(ref.evaluation);
    if (TierOf(evaluation, evaluation.variants[ref.place]) == Tier::kPrivate) evaluations.insert(ref.evaluation);
  }
  return evaluations;
}

std::optional<Coordinator::PassedVariant> Coordinator::Passed(StepId step) const {
  const FarmState& state = *state_;
  std::optional<PassedVariant> passed;
  const auto users = state.users.find(step);
  if (users == state.users.end()) return passed;
  const std::set<EvaluationId> private_in = PrivateIn(users->second);
  for (const VariantRef& ref : users->second) {
    const EvaluationEntry& evaluation = state.evaluations.at(ref.evaluation);
    const VariantEntry& variant = evaluation.variants[ref.place];
    const bool asks = evaluation.wanting && variant.step == step && variant.record.cause == Cause::kNone;
    if (!asks || !ChecksPassed(state, evaluation, variant)) continue;
    const Tier tier = private_in.contains(ref.evaluation) ? Tier::kPrivate : Tier::kPublic;
    if (!passed || tier == Tier::kPublic) passed = {ref, tier};
    if (tier == Tier::kPublic) break;
  }
  return passed;
}

bool Coordinator::HoldsBack(const VariantEntry& variant) const {
  return std::any_of(variant.record.outputs.begin(), variant.record.outputs.end(), [&](const auto& output) {
    const auto info = options_.catalogue.FindPath(output.second);
    return info != nullptr && info->state == NarInfoState::kPublished && info->tier == NarInfoTier::kHeld;
  });
}

std::map<StepId, Coordinator::Publication> Coordinator::Publishable() {
  FarmState& state = *state_;
  const absl::Time now = options_.clock.Now();
  std::map<StepId, Publication> publishable;
  const auto due = std::exchange(state.publish_due, {});
  for (StepId step : due) {
    // What is not ready for it yet becomes due again when its step or a check moves.
    if (state.graph.state(step) != StepState::kSucceeded) continue;
    const std::optional<PassedVariant> passed = Passed(step);
    if (!passed) continue;
    const EvaluationEntry& evaluation = state.evaluations.at(passed->variant.evaluation);
    const VariantEntry& variant = evaluation.variants[passed->variant.place];
    if (Published(state, variant) && !(passed->tier == Tier::kPublic && HoldsBack(variant))) {
      NotePublished(step);
      continue;
    }
    auto failed = state.unpublished.find(step);
    if (failed != state.unpublished.end() && failed->second.not_before > now) {
      state.publish_due.insert(step);
      continue;
    }
    Publication& publication = publishable[step];
    for (const auto& [name, path] : variant.record.outputs) publication.roots.push_back(path);
    publication.tiers = TiersOf(passed->tier, evaluation.declared->matrix);
  }
  return publishable;
}

bool Coordinator::NeededInPrivate(const std::string& derivation) const {
  const auto entry = state_->derivations.find(derivation);
  if (entry != state_->derivations.end()) {
    for (const auto& [name, output] : entry->second->parsed.outputs) {
      const auto info = options_.catalogue.FindPath(output.path);
      if (info != nullptr && info->state == NarInfoState::kPublished) return info->tier != NarInfoTier::kPublic;
    }
  }
  // What is not published has no tier yet.
  return std::any_of(state_->evaluations.begin(), state_->evaluations.end(),
                     [](const auto& evaluation) { return evaluation.second.declared->matrix.licence_declared; });
}

bool Coordinator::MadeInPrivate(const std::string& derivation) const {
  MutexLock lock(mu_);
  if (!state_) return true;
  const std::optional<StepId> step = state_->graph.Find(derivation);
  const auto users = step ? state_->users.find(*step) : state_->users.end();
  if (users == state_->users.end() || users->second.empty()) return NeededInPrivate(derivation);
  const std::set<EvaluationId> private_in = PrivateIn(users->second);
  return std::all_of(users->second.begin(), users->second.end(),
                     [&](const VariantRef& ref) { return private_in.contains(ref.evaluation); });
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
  std::map<StepId, Publication> passed;
  {
    MutexLock lock(mu_);
    passed = Publishable();
  }
  bool moved = false;
  for (auto next = passed.begin(); next != passed.end(); ++next) {
    const auto& [step, publication] = *next;
    auto published = options_.publisher.Publish(publication.roots, publication.tiers);
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
