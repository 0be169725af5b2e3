// Matrices and evaluations: applied, asked for, filled with outcomes, finished.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant {

absl::StatusOr<ApplyResult> Coordinator::Apply(MatrixTextRecord text, bool from_folder) {
  HYDRANT_ASSIGN_OR_RETURN(std::shared_ptr<const Declared> declared, Declare(std::move(text), options_.farm.system));
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  ApplyResult result{.name = declared->matrix.name,
                     .variants = static_cast<int64_t>(declared->expansion.variants.size())};
  Decision decision;
  {
    MutexLock lock(mu_);
    auto there = state_->matrices.find(result.name);
    result.replaced = there != state_->matrices.end();
    if (result.replaced && there->second.from_folder && !from_folder) {
      return absl::FailedPreconditionError(absl::StrCat("the matrix ", result.name,
          " is one of the daemon's folder of matrices; change its file there"));
    }
    if (result.replaced && there->second.digest == declared->text.digest &&
        there->second.from_folder == from_folder) {
      return result;
    }
    MatrixRecord record{.name = result.name, .digest = declared->text.digest, .from_folder = from_folder,
                        .applied_at = options_.clock.Now()};
    decision.Record(SaveMatrix{.matrix = record, .text = declared->text});
    decision.Then([record, declared](FarmState& state) {
      state.declared[record.digest] = declared;
      state.matrices[record.name] = record;
    });
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  return result;
}

absl::StatusOr<EvaluationRecord> Coordinator::Trigger(const std::string& matrix, const std::string& only,
                                                      int priority) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  EvaluationRecord record;
  {
    MutexLock lock(mu_);
    auto found = state_->matrices.find(matrix);
    if (found == state_->matrices.end()) {
      return NoMatrix(matrix);
    }
    auto declared = state_->declared.at(found->second.digest);
    record = {.id = {state_->last_evaluation.value + 1}, .matrix = matrix, .digest = found->second.digest,
              .only = only, .priority = priority + declared->matrix.priority, .requested_at = options_.clock.Now()};
    EvaluationEntry entry = NewEvaluationEntry(record, declared);
    if (entry.variants.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("'", only, "' matches no variant of ", matrix));
    }
    decision.Record(CreateEvaluation{record});
    decision.Then([entry](FarmState& state) {
      state.last_evaluation = std::max(state.last_evaluation, entry.record.id);
      state.evaluations[entry.record.id] = entry;
    });
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  Log(LogLevel::kInfo, "evaluation requested", {{"matrix", matrix}, {"evaluation", record.id.value}});
  return record;
}

absl::StatusOr<std::optional<EvaluationTask>> Coordinator::TakeRequested() {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  EvaluationTask task;
  {
    MutexLock lock(mu_);
    const EvaluationEntry* next = nullptr;
    for (const auto& [id, evaluation] : state_->evaluations) {
      if (evaluation.record.state != EvaluationState::kRequested) continue;
      if (next == nullptr || evaluation.record.priority > next->record.priority) next = &evaluation;
    }
    if (next == nullptr) return std::nullopt;
    task = {.id = next->record.id, .declared = next->declared};
    SaveVariants known;
    for (const VariantEntry& variant : next->variants) {
      if (variant.known) {
        known.variants.push_back(variant.record);
      } else {
        task.variants.push_back(static_cast<size_t>(variant.record.ordinal));
      }
    }
    decision.MoveEvaluationBy(next->record, EvaluationEvent::kBegun, {});
    if (!known.variants.empty()) decision.Record(std::move(known));
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  return task;
}

absl::Status Coordinator::SetRevision(EvaluationId id, const std::string& revision) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    const EvaluationState state = evaluation->record.state;
    if (state != EvaluationState::kEvaluating) {
      return absl::CancelledError(absl::StrCat("evaluation ", id.value, " is ", std::string(EvaluationStateName(state))));
    }
    decision.Record(MoveEvaluation{.id = id, .from = state, .to = state, .revision = revision});
    decision.Then([id, revision](FarmState& farm) { farm.evaluations[id].record.revision = revision; });
  }
  return Carry(std::move(decision));
}

namespace {

// Steps and their inputs (whose outputs' paths a worker is told), and the whole closure of those that a hook may look up.
std::set<std::string> DerivationsToKeep(const OutcomeBatch& batch) {
  std::set<std::string> keep = batch.steps, closures;
  for (auto it = batch.derivations.rbegin(); it != batch.derivations.rend(); ++it) {
    const LoadedDerivation& loaded = **it;
    const bool step = batch.steps.contains(loaded.path);
    const bool closure = closures.contains(loaded.path) || (step && NeedsClosure(loaded.parsed));
    if (!step && !closure) continue;
    for (const auto& [input, outputs] : loaded.parsed.input_derivations) {
      keep.insert(input);
      if (closure) closures.insert(input);
    }
  }
  return keep;
}

}  // namespace

absl::Status Coordinator::AddSteps(const OutcomeBatch& batch, Batch& record) {
  SaveDerivations derivations;
  std::vector<StepSpec> specs;
  absl::flat_hash_map<std::string, StepGraph::Known> known;
  const std::set<std::string> wanted = DerivationsToKeep(batch);
  for (const auto& loaded : batch.derivations) {
    if (!wanted.contains(loaded->path)) continue;
    auto [entry, added] = state_->derivations.try_emplace(loaded->path);
    if (added) {
      entry->second = std::make_shared<DerivationEntry>(DerivationEntry{loaded->aterm, loaded->parsed});
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
    steps.steps.push_back({.derivation = state_->graph.spec(step).derivation, .state = state_->graph.state(step),
                           .detail = state_->graph.detail(step)});
    if (state_->graph.state(step) == StepState::kReady) state_->ready_since[step] = now;
  }
  if (!derivations.derivations.empty()) record.emplace_back(std::move(derivations));
  if (!steps.steps.empty()) record.emplace_back(std::move(steps));
  return absl::OkStatus();
}

namespace {

// True when an earlier evaluation left the step behind by no fault of its package, so that a new one tries it again.
bool ComesBack(const StepGraph& graph, StepId step) {
  const StepState state = graph.state(step);
  return state == StepState::kCancelled ||
         (state == StepState::kFailed && !IsPackageFault(graph.detail(step).cause));
}

}  // namespace

void Coordinator::PlanOutcomes(Decision& decision, EvaluationEntry& evaluation, const OutcomeBatch& batch) {
  std::map<int, VariantEntry*> by_ordinal;
  for (VariantEntry& variant : evaluation.variants) by_ordinal[variant.record.ordinal] = &variant;
  SaveVariants saved;
  CreateChecks created;
  WantSteps(*state_, evaluation, false);
  for (const Outcome& outcome : batch.outcomes) {
    auto found = by_ordinal.find(static_cast<int>(outcome.variant));
    if (found == by_ordinal.end() || found->second->known) continue;
    VariantEntry& variant = *found->second;
    variant.record.cause = outcome.cause;
    variant.record.message = outcome.message;
    variant.record.derivation = outcome.derivation;
    variant.record.outputs = outcome.outputs;
    variant.record.environment = outcome.environment;
    variant.record.environment_output = outcome.environment_output;
    variant.known = true;
    for (CheckRecord& check : LinkVariant(*state_, evaluation, variant)) created.checks.push_back(std::move(check));
    variant.published = Published(variant);
    saved.variants.push_back(variant.record);
  }
  WantSteps(*state_, evaluation, true);
  if (!created.checks.empty()) decision.Record(std::move(created));
  if (!saved.variants.empty()) decision.Record(std::move(saved));
}

absl::Status Coordinator::AddOutcomes(EvaluationId id, const OutcomeBatch& batch) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    if (evaluation->record.state != EvaluationState::kEvaluating) {
      return absl::CancelledError(absl::StrCat("evaluation ", id.value, " is ",
                                               std::string(EvaluationStateName(evaluation->record.state))));
    }
    // Additions enter memory before they are recorded: nothing can move them while the door is held, and a failed
    // commit rebuilds memory from the record.
    stale_ = true;
    HYDRANT_RETURN_IF_ERROR(AddSteps(batch, decision.batch));
    PlanOutcomes(decision, *evaluation, batch);
  }
  if (!decision.empty()) HYDRANT_RETURN_IF_ERROR(Record(decision.batch));
  stale_ = false;

  // Steps of earlier evaluations: found in a cache meanwhile, or wanted again.
  for (const auto& loaded : batch.derivations) {
    if (!batch.steps.contains(loaded->path)) continue;
    Decision revival;
    {
      MutexLock lock(mu_);
      auto step = state_->graph.Find(loaded->path);
      if (!step || state_->graph.state(*step) == StepState::kSucceeded) continue;
      auto held = batch.held.find(loaded->path);
      if (held != batch.held.end()) {
        // Refused while it runs: the attempt's end will say.
        (void)PlanInto(revival, *step, StepEvent::kFoundInCache, {.held_by = held->second});
      } else if (ComesBack(state_->graph, *step)) {
        (void)PlanInto(revival, *step, RetryEventOf(state_->graph, *step), {});
      }
    }
    HYDRANT_RETURN_IF_ERROR(Carry(std::move(revival)));
  }
  Announce();
  Advance();
  return absl::OkStatus();
}

absl::Status Coordinator::FinishEvaluation(EvaluationId id, const absl::Status& status) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    if (evaluation->record.state != EvaluationState::kEvaluating) return absl::OkStatus();
    SaveVariants unknown;
    bool any_known = false;
    for (const VariantEntry& variant : evaluation->variants) {
      const Variant& declared = evaluation->declared->expansion.variants[variant.record.ordinal];
      if (variant.known) {
        any_known = any_known || declared.cause == Cause::kNone;
        continue;
      }
      VariantRecord record = variant.record;
      record.cause = Cause::kUnknown;
      record.message = status.ok() ? "the evaluator gave no outcome" : std::string(status.message());
      unknown.variants.push_back(std::move(record));
    }
    if (!unknown.variants.empty() && !any_known) {
      MoveEvaluation move{.message = std::string(status.message()), .settled_at = options_.clock.Now()};
      decision.MoveEvaluationBy(evaluation->record, EvaluationEvent::kFailed, move);
    } else {
      if (!unknown.variants.empty()) {
        decision.Record(unknown);
        decision.Then([id, unknown](FarmState& state) {
          std::map<int, const VariantRecord*> records;
          for (const VariantRecord& record : unknown.variants) records[record.ordinal] = &record;
          for (VariantEntry& variant : state.evaluations[id].variants) {
            auto found = records.find(variant.record.ordinal);
            if (found == records.end()) continue;
            variant.record = *found->second;
            variant.known = true;
          }
        });
      }
      decision.MoveEvaluationBy(evaluation->record, EvaluationEvent::kAllKnown, {});
    }
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  Advance();
  return absl::OkStatus();
}

bool Coordinator::IsCancelled(EvaluationId id) const {
  MutexLock lock(mu_);
  auto found = state_->evaluations.find(id);
  return found != state_->evaluations.end() && found->second.record.state != EvaluationState::kEvaluating;
}

absl::Status Coordinator::NoMatrix(const std::string& matrix) const {
  std::vector<std::string> names;
  for (const auto& [name, unused] : state_->matrices) names.push_back(name);
  const std::string nearest = NearestWord(matrix, names);
  return absl::NotFoundError(absl::StrCat("there is no matrix '", matrix, "'",
                                          nearest.empty() ? "" : absl::StrCat("; the nearest is '", nearest, "'")));
}

absl::StatusOr<EvaluationEntry*> Coordinator::FindEvaluation(const std::string& matrix, EvaluationId id) const {
  if (id) {
    auto found = state_->evaluations.find(id);
    if (found == state_->evaluations.end() || (!matrix.empty() && found->second.record.matrix != matrix)) {
      return absl::NotFoundError(absl::StrCat("there is no evaluation ", id.value,
                                              matrix.empty() ? "" : absl::StrCat(" of ", matrix)));
    }
    return &found->second;
  }
  if (!state_->matrices.contains(matrix)) {
    return NoMatrix(matrix);
  }
  EvaluationEntry* newest = NewestEvaluation(*state_, matrix);
  if (newest == nullptr) {
    return absl::NotFoundError(absl::StrCat("the matrix ", matrix, " has no evaluation yet; hydrant trigger ", matrix));
  }
  return newest;
}

}  // namespace hydrant
