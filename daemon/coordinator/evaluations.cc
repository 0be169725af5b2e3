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
namespace {

// By rule, before any evaluator was asked.
Cause DeclaredCause(const EvaluationEntry& evaluation, const VariantEntry& variant) {
  return evaluation.declared->expansion.variants[variant.record.ordinal].cause;
}

// Cancelled when it is evaluated no more.
absl::Status Evaluating(const EvaluationEntry& evaluation) {
  const EvaluationRecord& record = evaluation.record;
  if (record.state == EvaluationState::kEvaluating) return absl::OkStatus();
  return absl::CancelledError(
      absl::StrCat("evaluation ", record.id.value, " is ", std::string(EvaluationStateName(record.state))));
}

}  // namespace

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

absl::Status Coordinator::KeepOfFolder(const std::set<std::string>& names) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    for (const auto& [name, matrix] : state_->matrices) {
      if (!matrix.from_folder || names.contains(name)) continue;
      MatrixRecord record = matrix;
      record.from_folder = false;
      decision.Record(SaveMatrix{.matrix = record, .text = state_->declared.at(record.digest)->text});
      decision.Then([record](FarmState& state) { state.matrices[record.name] = record; });
    }
  }
  return Carry(std::move(decision));
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
  evaluating_.insert(task.id);
  return task;
}

absl::Status Coordinator::SetRevision(EvaluationId id, const std::string& revision) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    HYDRANT_RETURN_IF_ERROR(Evaluating(*evaluation));
    const EvaluationRecord& record = evaluation->record;
    decision.Record(MoveEvaluation{.id = id, .from = record.state, .to = record.state, .revision = revision});
    decision.Then([id, revision](FarmState& farm) { farm.evaluations.at(id).record.revision = revision; });
    if (!record.revision.empty() && record.revision != revision) {
      SaveVariants forgotten;
      std::vector<size_t> places;
      for (size_t i = 0; i < evaluation->variants.size(); ++i) {
        const VariantEntry& variant = evaluation->variants[i];
        if (!variant.known || DeclaredCause(*evaluation, variant) != Cause::kNone) continue;
        if (variant.record.cause == Cause::kCancelled) continue;
        places.push_back(i);
        VariantRecord unknown = variant.record;
        unknown.cause = Cause::kUnknown;
        unknown.message = "the source changed; to be evaluated again";
        unknown.derivation.clear();
        forgotten.variants.push_back(std::move(unknown));
      }
      if (!places.empty()) decision.Record(std::move(forgotten));
      decision.Then([id, places](FarmState& farm) {
        EvaluationEntry& entry = farm.evaluations.at(id);
        for (size_t place : places) UnlinkVariant(farm, entry, place);
      });
    }
  }
  return Carry(std::move(decision));
}

absl::StatusOr<std::vector<size_t>> Coordinator::UnknownVariants(EvaluationId id) const {
  MutexLock lock(mu_);
  HYDRANT_ASSIGN_OR_RETURN(const EvaluationEntry* evaluation, FindEvaluation("", id));
  std::vector<size_t> unknown;
  for (const VariantEntry& variant : evaluation->variants) {
    if (!variant.known) unknown.push_back(static_cast<size_t>(variant.record.ordinal));
  }
  return unknown;
}

absl::Status Coordinator::FinishEvaluation(EvaluationId id, const absl::Status& status) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    if (evaluation->record.state == EvaluationState::kEvaluating) PlanFinished(decision, *evaluation, status);
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  evaluating_.erase(id);
  Advance();
  return absl::OkStatus();
}

void Coordinator::PlanFinished(Decision& decision, const EvaluationEntry& evaluation, const absl::Status& status) const {
  SaveVariants unknown;
  std::vector<size_t> places;
  bool any_known = false;
  for (size_t i = 0; i < evaluation.variants.size(); ++i) {
    const VariantEntry& variant = evaluation.variants[i];
    if (variant.known) {
      any_known = any_known || DeclaredCause(evaluation, variant) == Cause::kNone;
      continue;
    }
    places.push_back(i);
    unknown.variants.push_back(variant.record);
    unknown.variants.back().cause = Cause::kUnknown;
    unknown.variants.back().message = status.ok() ? "the evaluator gave no outcome" : std::string(status.message());
  }
  if (!places.empty() && !any_known) {
    decision.MoveEvaluationBy(evaluation.record, EvaluationEvent::kFailed,
                              {.message = unknown.variants.front().message, .settled_at = options_.clock.Now()});
    decision.Then([id = evaluation.record.id](FarmState& state) { WantSteps(state, state.evaluations.at(id), false); });
    return;
  }
  if (!places.empty()) {
    decision.Record(unknown);
    decision.Then([id = evaluation.record.id, places, unknown](FarmState& state) {
      std::vector<VariantEntry>& variants = state.evaluations.at(id).variants;
      for (size_t i = 0; i < places.size(); ++i) {
        variants[places[i]].record = unknown.variants[i];
        variants[places[i]].known = true;
      }
    });
  }
  decision.MoveEvaluationBy(evaluation.record, EvaluationEvent::kAllKnown, {});
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
