// What follows from the state as it is: level-triggered, so that a lost event costs nothing and a restart
// finds its way. Looks only at what a change touched.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/channel/gate.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "daemon/coordinator/waiting.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/channel_names.h"

namespace hydrant {

bool Coordinator::AdvanceSteps() {
  std::vector<StepHappening> due;
  {
    MutexLock lock(mu_);
    const absl::Time now = options_.clock.Now();
    const StepGraph& graph = state_->graph;
    for (StepId step : graph.DueBackoffs(now))
      due.push_back({step, StepEvent::kBackoffOver, graph.detail(step)});
    if (graph.counts()[static_cast<int>(StepState::kBuilt)] > 0) {
      for (StepId step = 0; step < graph.size(); ++step) {
        if (graph.state(step) != StepState::kBuilt) continue;
        std::string missing;
        if (OutputsHeld(step, &missing)) {
          due.push_back({step, StepEvent::kStaged, {.held_by = "ours"}});
        } else {
          due.push_back({step,
                         StepEvent::kFailedByFarm,
                         {.cause = Cause::kUploadFailed,
                          .message = absl::StrCat(missing, " is not here any more"),
                          .not_before = now}});
        }
      }
    }
  }
  bool moved = false;
  for (StepHappening& happening : due) {
    Decision decision;
    {
      MutexLock lock(mu_);
      if (!PlanInto(decision, happening.step, happening.event, std::move(happening.detail)).ok()) continue;
    }
    if (!Carry(std::move(decision)).ok()) return false;
    moved = true;
  }
  return moved;
}

namespace {

// What the states of a check's steps mean for it, or nothing.
std::optional<CheckEvent> InputsEvent(const FarmState& state, const CheckEntry& check, std::string* why) {
  bool staged = check.output_step.has_value();
  for (const std::optional<StepId>& step : {check.output_step, check.environment_step}) {
    if (!step) continue;
    const StepState now = state.graph.state(*step);
    if (IsFinal(now) && now != StepState::kSucceeded) {
      *why = absl::StrCat(state.graph.spec(*step).name, " is ", std::string(StepStateName(now)));
      return CheckEvent::kInputsGone;
    }
    staged = staged && now == StepState::kSucceeded;
  }
  if (check.record.state == CheckState::kSkipped) {
    // Its output comes after all, or somebody wants it again.
    return IsWanted(state, check) ? std::optional(CheckEvent::kRetried) : std::nullopt;
  }
  if (staged) return CheckEvent::kInputsStaged;
  return std::nullopt;
}

}  // namespace

bool Coordinator::AdvanceChecks() {
  Decision decision;
  {
    MutexLock lock(mu_);
    const absl::Time now = options_.clock.Now();
    for (const std::string& key : std::exchange(state_->checks_due, {})) {
      const CheckEntry& entry = state_->checks.at(key);
      const CheckState before = entry.record.state;
      if (before != CheckState::kWanted && before != CheckState::kSkipped) continue;
      CheckRecord after = entry.record;
      after.message.clear();
      auto event = InputsEvent(*state_, entry, &after.message);
      if (!event || !decision.MoveCheckBy(entry.record, *event, std::move(after))) continue;
      if (*event == CheckEvent::kInputsStaged) {
        decision.Then([key, now](FarmState& state) { state.checks.at(key).ready_since = now; });
      }
    }
  }
  if (decision.empty()) return false;
  return Carry(std::move(decision)).ok();
}

namespace {

bool EveryVariantSettled(const FarmState& state, EvaluationEntry& evaluation, const WaitingRule& rule) {
  const std::vector<VariantEntry>& variants = evaluation.variants;
  // Where it stopped last time first: most changes settle another variant than that.
  for (size_t i = 0; i < variants.size(); ++i) {
    const size_t place = (evaluation.unsettled + i) % variants.size();
    if (IsSettled(Describe(state, evaluation, variants[place], rule))) continue;
    evaluation.unsettled = place;
    return false;
  }
  return true;
}

struct Settling {
  bool waiting = false;              // some wait
  std::vector<std::string> unknown;  // to a dead evaluator: ids
  std::vector<GateVariant> gate;
};

Settling Look(const FarmState& state, const EvaluationEntry& evaluation, const WaitingRule& rule) {
  Settling look;
  for (const VariantEntry& variant : evaluation.variants) {
    const VariantView view = Describe(state, evaluation, variant, rule);
    look.waiting = look.waiting || view.state == VariantState::kWaiting;
    if (IsEvaluatorDeath(variant.record.cause)) look.unknown.push_back(variant.record.id);
    look.gate.push_back({.id = variant.record.id,
                         .required = variant.required,
                         .cached = view.state == VariantState::kCached});
  }
  return look;
}

// Never fewer variants: which are not known.
std::string WhyIncomplete(const std::vector<std::string>& unknown, size_t variants) {
  constexpr size_t kNamed = 10;
  if (unknown.empty()) return "";
  std::string message =
      absl::StrCat("what becomes of ", unknown.size(), " of ", variants,
                   " variants is not known, since an evaluator died or its answer was of no use: ",
                   absl::StrJoin(unknown.begin(), unknown.begin() + std::min(unknown.size(), kNamed), ", "));
  if (unknown.size() > kNamed) absl::StrAppend(&message, " and ", unknown.size() - kNamed, " more");
  return message;
}

}  // namespace

void Coordinator::PlanSettled(Decision& decision, EvaluationEntry& evaluation,
                              std::map<std::string, EvaluationId>& channels) const {
  const absl::Time now = options_.clock.Now();
  const EvaluationRecord record = evaluation.record;
  const Settling look = Look(*state_, evaluation, Waiting());
  const EvaluationState after =
      look.unknown.empty() ? EvaluationState::kSettled : EvaluationState::kIncomplete;
  const GateSpec& gate = evaluation.declared->matrix.gate;
  const Verdict verdict = JudgeGate(after, gate.declared, look.gate, evaluation.unmatched);
  const EvaluationEvent event =
      look.unknown.empty() ? EvaluationEvent::kSettled : EvaluationEvent::kSettledIncomplete;
  std::string message = WhyIncomplete(look.unknown, evaluation.variants.size());
  for (const std::string& glob : evaluation.unmatched) {
    absl::StrAppend(&message, message.empty() ? "" : "; ", "[gate] required: '", glob,
                    "' matches no variant");
  }
  MoveEvaluation move{.message = message, .settled_at = now, .gate_passed = verdict.passed};
  if (!decision.MoveEvaluationBy(record, event, move)) return;
  decision.Then([record, after, passed = verdict.passed,
                 unknown = static_cast<int64_t>(look.unknown.size())](FarmState&) {
    Log(unknown > 0 ? LogLevel::kWarning : LogLevel::kInfo, "evaluation settled",
        {{"matrix", record.matrix},
         {"branch", record.branch},
         {"evaluation", record.id.value},
         {"state", std::string(EvaluationStateName(after))},
         {"gate", passed ? "passed" : "not passed"},
         {"unknown", unknown}});
  });
  if (!look.waiting) {
    decision.Then([id = record.id](FarmState& state) { WantSteps(state, state.evaluations.at(id), false); });
  }
  if (!evaluation.reopened) {
    decision.Tell([took = now - record.requested_at](FarmObserver& observer) { observer.Evaluated(took); });
  }
  if (!verdict.passed || !record.only.empty()) return;
  // What was asked for by name is not where its branch is.
  if (!record.wanted_revision.empty()) return;
  const std::string name = ChannelName(evaluation.declared->matrix, record.branch);
  // Another evaluation of the matrix may settle in the same batch.
  auto there = state_->channels.find(name);
  auto [at, is_new] =
      channels.try_emplace(name, there == state_->channels.end() ? EvaluationId{} : there->second.evaluation);
  if (!MayMove(at->second, record.id)) return;
  const ChannelRecord to{
      .name = name, .matrix = record.matrix, .evaluation = record.id, .revision = record.revision, .at = now};
  decision.Record(MoveChannel{.from = at->second, .channel = to});
  decision.Then([to](FarmState& state) { state.channels[to.name] = to; });
  at->second = record.id;
}

bool Coordinator::SettleEvaluations() {
  Decision decision;
  {
    MutexLock lock(mu_);
    std::map<std::string, EvaluationId> channels;
    for (auto& [id, evaluation] : state_->evaluations) {
      if (!std::exchange(evaluation.changed, false)) continue;
      const EvaluationState at = evaluation.record.state;
      const bool ended = at == EvaluationState::kSettled || at == EvaluationState::kIncomplete;
      if (at != EvaluationState::kEvaluated && !(ended && evaluation.wanting)) continue;
      const bool settled = EveryVariantSettled(*state_, evaluation, Waiting());
      if (!ended && settled) PlanSettled(decision, evaluation, channels);
      if (ended && !settled) {
        // A variant that waited can go on.
        decision.MoveEvaluationBy(evaluation.record, EvaluationEvent::kReopened, {});
        decision.Then([id = id](FarmState& state) { state.evaluations.at(id).reopened = true; });
      }
    }
  }
  if (decision.empty()) return false;
  return Carry(std::move(decision)).ok();
}

}  // namespace hydrant
