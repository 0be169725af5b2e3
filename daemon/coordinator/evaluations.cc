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

// Derivations that are kept for the rules between evaluations: some hundred bytes each.
constexpr size_t kMostAudited = 500'000;

// By rule, before any evaluator was asked.
Cause DeclaredCause(const EvaluationEntry& evaluation, const VariantEntry& variant) {
  return evaluation.expansion().variants[variant.record.ordinal].cause;
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
  HYDRANT_ASSIGN_OR_RETURN(std::shared_ptr<const Declared> declared,
                           Declare(std::move(text), options_.farm.system));
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
      return absl::FailedPreconditionError(absl::StrCat(
          "the matrix ", result.name, " is one of the daemon's folder of matrices; change its file there"));
    }
    std::vector<const Matrix*> others;
    for (const auto& [name, record] : state_->matrices)
      others.push_back(&state_->declared.at(record.digest)->matrix);
    HYDRANT_RETURN_IF_ERROR(CheckChannels(declared->matrix, others));
    if (result.replaced && there->second.digest == declared->text.digest &&
        there->second.from_folder == from_folder) {
      return result;
    }
    MatrixRecord record{.name = result.name,
                        .digest = declared->text.digest,
                        .from_folder = from_folder,
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

absl::StatusOr<std::vector<EvaluationRecord>> Coordinator::Trigger(const TriggerOrder& order) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  std::vector<EvaluationRecord> records;
  {
    MutexLock lock(mu_);
    auto found = state_->matrices.find(order.matrix);
    if (found == state_->matrices.end()) return NoMatrix(order.matrix);
    auto declared = state_->declared.at(found->second.digest);
    HYDRANT_ASSIGN_OR_RETURN(const std::vector<std::string> branches,
                             BranchesOf(declared->matrix, order.point));
    EvaluationId last = state_->last_evaluation;
    for (const std::string& branch : branches) {
      const EvaluationRecord record = {.id = {++last.value},
                                       .matrix = order.matrix,
                                       .digest = found->second.digest,
                                       .only = order.only,
                                       .priority = order.priority + declared->matrix.priority,
                                       .branch = branch,
                                       .wanted_revision = order.point.revision,
                                       .requested_at = options_.clock.Now()};
      EvaluationEntry entry = NewEvaluationEntry(record, declared);
      if (entry.variants.empty() && !entry.lacks_packages()) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", order.only, "' matches no variant of ", order.matrix));
      }
      decision.Record(CreateEvaluation{record});
      decision.Then([entry](FarmState& state) {
        state.last_evaluation = std::max(state.last_evaluation, entry.record.id);
        state.evaluations[entry.record.id] = entry;
      });
      records.push_back(record);
    }
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  for (const EvaluationRecord& record : records) {
    Log(LogLevel::kInfo, "evaluation requested",
        {{"matrix", record.matrix}, {"branch", record.branch}, {"evaluation", record.id.value}});
  }
  return records;
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
    task = {.id = next->record.id,
            .priority = next->record.priority,
            .declared = next->declared,
            .point = {.branch = next->record.branch, .revision = next->record.wanted_revision}};
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
        unknown.facts_json.clear();
        unknown.tier.clear();
        unknown.findings.clear();
        forgotten.variants.push_back(std::move(unknown));
      }
      if (!places.empty()) decision.Record(std::move(forgotten));
      decision.Then([id, places](FarmState& farm) {
        EvaluationEntry& entry = farm.evaluations.at(id);
        for (size_t place : places) UnlinkVariant(farm, entry, place);
      });
    }
    HYDRANT_RETURN_IF_ERROR(PlanPackagesAt(decision, *evaluation, revision));
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
    if (evaluation->record.state == EvaluationState::kEvaluating) {
      PlanFindings(decision, *evaluation);
      PlanFinished(decision, *evaluation, status);
    }
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  evaluating_.erase(id);
  audits_.erase(id);
  if (audits_.empty() && audited_->size() > kMostAudited) audited_ = std::make_shared<ClosureAudit>();
  Advance();
  return absl::OkStatus();
}

void Coordinator::LookAt(const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations) {
  // The door stays shut for some milliseconds at a time.
  constexpr size_t kPiece = 2000;
  const size_t end = std::min(derivations.size(), kMostAudited);
  for (size_t i = 0; i < end; i += kPiece) {
    MutexLock door(door_);
    for (size_t k = i; k < std::min(end, i + kPiece); ++k) TakeIn(*derivations[k], *audited_);
  }
}

absl::StatusOr<EvaluationAudit*> Coordinator::AuditOf(EvaluationId id) {
  auto audit = audits_.find(id);
  if (audit == audits_.end()) {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation("", id));
    HYDRANT_RETURN_IF_ERROR(Evaluating(*evaluation));
    audit = audits_.try_emplace(id, evaluation->declared, evaluation->derived, audited_).first;
  }
  return &audit->second;
}

void Coordinator::PlanFindings(Decision& decision, const EvaluationEntry& evaluation) {
  const auto found = audits_.find(evaluation.record.id);
  if (found == audits_.end()) return;
  EvaluationAudit& audit = found->second;
  std::vector<const VariantRecord*> records;
  for (const VariantEntry& variant : evaluation.variants) records.push_back(&variant.record);
  audit.CompareSlices(records);
  SaveVariants judged;
  std::vector<size_t> places;
  for (size_t i = 0; i < evaluation.variants.size(); ++i) {
    const VariantEntry& variant = evaluation.variants[i];
    if (!audit.Knows(variant.record)) continue;
    std::vector<Finding> findings = audit.Judge(variant.record, variant.facts.get());
    if (findings == variant.record.findings) continue;
    places.push_back(i);
    judged.variants.push_back(variant.record);
    judged.variants.back().findings = std::move(findings);
  }
  if (places.empty()) return;
  decision.Record(judged);
  decision.Then([id = evaluation.record.id, places, judged](FarmState& state) {
    std::vector<VariantEntry>& variants = state.evaluations.at(id).variants;
    for (size_t i = 0; i < places.size(); ++i)
      variants[places[i]].record.findings = judged.variants[i].findings;
  });
}

void Coordinator::PlanFinished(Decision& decision, const EvaluationEntry& evaluation,
                               const absl::Status& status) const {
  const std::string why = !status.ok()                  ? std::string(status.message())
                          : evaluation.lacks_packages() ? "the evaluator gave no package list"
                                                        : "the evaluator gave no outcome";
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
    unknown.variants.back().message = why;
  }
  if (evaluation.lacks_packages() || (!places.empty() && !any_known)) {
    decision.MoveEvaluationBy(evaluation.record, EvaluationEvent::kFailed,
                              {.message = why, .settled_at = options_.clock.Now()});
    decision.Then(
        [id = evaluation.record.id](FarmState& state) { WantSteps(state, state.evaluations.at(id), false); });
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
  return absl::NotFoundError(absl::StrCat("there is no matrix '", matrix, "'", NearestHint(matrix, names)));
}

absl::StatusOr<EvaluationEntry*> Coordinator::FindEvaluation(const std::string& matrix, EvaluationId id,
                                                             const std::string& branch) const {
  if (id) {
    auto found = state_->evaluations.find(id);
    if (found == state_->evaluations.end() || (!matrix.empty() && found->second.record.matrix != matrix)) {
      return absl::NotFoundError(absl::StrCat("there is no evaluation ", id.value,
                                              matrix.empty() ? "" : absl::StrCat(" of ", matrix)));
    }
    if (const std::string& its = found->second.record.branch; !branch.empty() && its != branch) {
      return absl::NotFoundError(absl::StrCat("evaluation ", id.value, " is not of branch '", branch, "'",
                                              its.empty() ? "" : absl::StrCat(" but of '", its, "'")));
    }
    return &found->second;
  }
  if (!state_->matrices.contains(matrix)) {
    return NoMatrix(matrix);
  }
  EvaluationEntry* newest = NewestEvaluation(*state_, matrix, branch);
  if (newest == nullptr && !branch.empty()) {
    // An older text of the matrix may have named it: only what has no evaluation is told.
    HYDRANT_RETURN_IF_ERROR(
        BranchesOf(state_->declared.at(state_->matrices.at(matrix).digest)->matrix, {.branch = branch})
            .status());
    return absl::NotFoundError(absl::StrCat("branch ", branch, " of ", matrix,
                                            " has no evaluation yet; hydrant trigger ", matrix, " --branch ",
                                            branch));
  }
  if (newest == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the matrix ", matrix, " has no evaluation yet; hydrant trigger ", matrix));
  }
  return newest;
}

}  // namespace hydrant
