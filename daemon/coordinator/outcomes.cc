// Outcomes of an evaluation: the steps that they need, once for everybody, and what earlier evaluations left
// of them.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "daemon/coordinator/known_facts.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// New steps and their inputs (whose outputs' paths a worker is told), and the whole closure of those that a
// hook may look up. Views into the batch.
absl::flat_hash_set<absl::string_view> DerivationsToKeep(const OutcomeBatch& batch, const StepGraph& graph) {
  absl::flat_hash_set<absl::string_view> keep, closures;
  for (auto it = batch.derivations.rbegin(); it != batch.derivations.rend(); ++it) {
    const LoadedDerivation& loaded = **it;
    const bool step = batch.steps.contains(loaded.path) && !graph.Find(loaded.path);
    const bool closure = closures.contains(loaded.path) || (step && NeedsClosure(loaded.parsed));
    if (step) keep.insert(loaded.path);
    if (!step && !closure) continue;
    for (const auto& [input, outputs] : loaded.parsed.input_derivations) {
      keep.insert(input);
      if (closure) closures.insert(input);
    }
  }
  return keep;
}

}  // namespace

absl::StatusOr<std::vector<StepId>> Coordinator::AddSteps(const OutcomeBatch& batch, Batch& record) {
  SaveDerivations derivations;
  std::vector<StepSpec> specs;
  absl::flat_hash_map<std::string, StepGraph::Known> known;
  const absl::flat_hash_set<absl::string_view> wanted = DerivationsToKeep(batch, state_->graph);
  for (const auto& loaded : batch.derivations) {
    if (!wanted.contains(loaded->path)) continue;
    auto [entry, added] = state_->derivations.try_emplace(loaded->path);
    if (added) {
      entry->second = loaded;
      derivations.derivations.push_back({.path = loaded->path, .aterm = loaded->aterm});
    }
    if (!batch.steps.contains(loaded->path) || state_->graph.Find(loaded->path)) continue;
    specs.push_back(SpecOf(loaded->path, loaded->parsed));
    auto held = batch.held.find(loaded->path);
    if (held != batch.held.end()) {
      known[loaded->path] = {.state = StepState::kSucceeded, .detail = {.held_by = held->second}};
    }
  }
  HYDRANT_ASSIGN_OR_RETURN(std::vector<StepId> added, state_->graph.Add(specs, known));
  CreateSteps steps;
  const absl::Time now = options_.clock.Now();
  for (StepId step : added) {
    steps.steps.push_back({.derivation = state_->graph.spec(step).derivation,
                           .state = state_->graph.state(step),
                           .detail = state_->graph.detail(step)});
    if (state_->graph.state(step) == StepState::kReady) state_->ready_since[step] = now;
  }
  if (!derivations.derivations.empty()) record.emplace_back(std::move(derivations));
  if (!steps.steps.empty()) record.emplace_back(std::move(steps));
  return added;
}

namespace {

// True when an earlier evaluation left it behind by no fault of its package, so that a new one tries it
// again.
bool ComesBack(const StepGraph& graph, StepId step) {
  const StepState state = graph.state(step);
  return state == StepState::kCancelled ||
         (state == StepState::kFailed && !IsPackageFault(graph.detail(step).cause));
}

bool ComesBack(const CheckRecord& check) {
  return check.state == CheckState::kFailed && IsRetryable(check.cause);
}

void Take(const Outcome& outcome, VariantRecord& record) {
  record.cause = outcome.cause;
  record.message = outcome.message;
  if (outcome.cause != Cause::kNone) return;
  if (outcome.derivation.empty()) {
    record.cause = Cause::kUnknown;
    record.message = "the evaluator gave neither a derivation nor a cause";
    return;
  }
  record.derivation = outcome.derivation;
  record.outputs = outcome.outputs;
  record.environment = outcome.environment;
  record.environment_output = outcome.environment_output;
}

}  // namespace

void Coordinator::PlanOutcomes(Decision& decision, EvaluationEntry& evaluation, const OutcomeBatch& batch,
                               const EvaluationAudit& audit) {
  std::map<int, size_t> places;
  for (size_t i = 0; i < evaluation.variants.size(); ++i) places[evaluation.variants[i].record.ordinal] = i;
  SaveVariants saved;
  CreateChecks created;
  WantSteps(*state_, evaluation, true);
  evaluation.changed = true;
  const std::set<std::string> gpu_architectures = GpuArchitectures(*state_);
  for (const Outcome& outcome : batch.outcomes) {
    auto found = places.find(static_cast<int>(outcome.variant));
    if (found == places.end() || evaluation.variants[found->second].known) continue;
    VariantEntry& variant = evaluation.variants[found->second];
    Take(outcome, variant.record);
    if (variant.record.cause == Cause::kNone) {
      LearnFacts(outcome.facts, variant);
      audit.Settle(variant.record, variant.facts.get());
    }
    variant.known = true;
    for (CheckRecord& check : LinkVariant(*state_, evaluation, found->second, gpu_architectures))
      created.checks.push_back(std::move(check));
    WantVariant(*state_, variant, true);
    variant.published = Published(*state_, variant);
    saved.variants.push_back(variant.record);
  }
  if (!created.checks.empty()) decision.Record(std::move(created));
  if (!saved.variants.empty()) decision.Record(std::move(saved));
}

void Coordinator::PlanRevival(Decision& decision, EvaluationId id, const OutcomeBatch& batch,
                              const std::vector<StepId>& old) const {
  const StepGraph& graph = state_->graph;
  std::vector<StepHappening> happenings;
  std::vector<StepId> tried_again;
  absl::flat_hash_map<StepId, StepHappening> found;
  for (StepId step : old) {
    const auto held = batch.held.find(graph.spec(step).derivation);
    // While it runs the attempt's end will say.
    if (held != batch.held.end() && NextStepState(graph.state(step), StepEvent::kFoundInCache)) {
      found[step] = {step, StepEvent::kFoundInCache, {.held_by = held->second}};
    } else if (held == batch.held.end() && ComesBack(graph, step)) {
      found[step] = {step, RetryEventOf(graph, step), {}};
      tried_again.push_back(step);
    }
  }
  std::vector<StepId> moved;
  for (const auto& [step, happening] : found) moved.push_back(step);
  // A step whose input stays failed cannot be tried again.
  if (!moved.empty()) moved = graph.InputsFirst(moved);
  for (StepId step : moved) {
    if (auto happening = found.find(step); happening != found.end())
      happenings.push_back(std::move(happening->second));
  }
  if (absl::Status planned = PlanAllInto(decision, happenings); !planned.ok()) {
    Log(LogLevel::kError, "steps of earlier evaluations stay as they are", {{"reason", planned.ToString()}});
  }
  decision.Then([tried_again](FarmState& state) {
    for (StepId step : tried_again) state.avoid.erase(step);
  });
  std::set<std::string> checks;
  for (const VariantEntry& variant : state_->evaluations.at(id).variants) {
    checks.insert(variant.checks.begin(), variant.checks.end());
  }
  for (const std::string& key : checks) {
    const CheckRecord& before = state_->checks.at(key).record;
    if (!ComesBack(before)) continue;
    CheckRecord after = before;
    after.cause = Cause::kNone;
    after.failed_attempts = 0;
    decision.MoveCheckBy(before, CheckEvent::kRetried, std::move(after));
  }
}

absl::Status Coordinator::AddOutcomes(EvaluationId id, const OutcomeBatch& batch) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  HYDRANT_ASSIGN_OR_RETURN(EvaluationAudit* const audit, AuditOf(id));
  audit->Take(batch.derivations);
  Decision decision;
  std::vector<StepId> old, added;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    if (evaluation->record.state != EvaluationState::kEvaluating) {
      return absl::CancelledError(absl::StrCat("evaluation ", id.value, " is ",
                                               std::string(EvaluationStateName(evaluation->record.state))));
    }
    // Additions enter memory before they are recorded: nothing can move them while the door is held, and a
    // failed commit rebuilds memory from the record.
    stale_ = true;
    for (const std::string& path : batch.steps) {
      if (const auto step = state_->graph.Find(path)) old.push_back(*step);
    }
    // As a rule nothing is new: steps outlive evaluations.
    if (old.size() < batch.steps.size()) {
      HYDRANT_ASSIGN_OR_RETURN(added, AddSteps(batch, decision.batch));
    }
    PlanOutcomes(decision, *evaluation, batch, *audit);
  }
  if (!decision.empty()) HYDRANT_RETURN_IF_ERROR(Record(decision.batch));
  stale_ = false;

  Decision revival, owed;
  {
    MutexLock lock(mu_);
    PlanRevival(revival, id, batch, old);
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(revival)));
  {
    // An input that was pruned before may be a step now, and one that will not succeed.
    MutexLock lock(mu_);
    owed.Move(state_->graph, state_->graph.Owed(added));
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(owed)));
  Announce();
  Advance();
  return absl::OkStatus();
}

}  // namespace hydrant
