// matrix, matrix_text, matrix_file, evaluation, derived_list, variant. A variant's findings are postgres_finding_rows.cc's.
#include <map>

#include "absl/strings/str_cat.h"
#include "daemon/record/postgres_changes.h"
#include "daemon/record/utf8.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

MatrixRecord ReadMatrix(RowReader& row) {
  MatrixRecord matrix;
  matrix.name = row.Text();
  matrix.digest = row.Text();
  matrix.from_folder = row.Bool();
  matrix.applied_at = row.Time();
  return matrix;
}

MatrixTextRecord ReadMatrixText(RowReader& row) {
  MatrixTextRecord text;
  text.digest = row.Text();
  text.toml = row.Text();
  text.directory = row.Text();
  text.file = row.Text();
  return text;
}

struct MatrixFile {
  std::string digest, name, content;
};

MatrixFile ReadMatrixFile(RowReader& row) {
  MatrixFile file;
  file.digest = row.Text();
  file.name = row.Text();
  file.content = row.Bytes();
  return file;
}

void WriteEvaluation(const EvaluationRecord& evaluation, RowWriter& row) {
  row.Id(evaluation.id)
      .Text(evaluation.matrix)
      .Text(evaluation.digest)
      .Text(evaluation.only)
      .Int(evaluation.priority)
      .Text(EvaluationStateName(evaluation.state))
      .Text(evaluation.revision)
      .Prose(evaluation.message)
      .Time(evaluation.requested_at)
      .TimeOrNull(evaluation.settled_at, absl::InfiniteFuture())
      .Bool(evaluation.gate_passed)
      .Text(evaluation.branch)
      .Text(evaluation.wanted_revision);
}

EvaluationRecord ReadEvaluation(RowReader& row) {
  EvaluationRecord evaluation;
  row.Id(evaluation.id);
  evaluation.matrix = row.Text();
  evaluation.digest = row.Text();
  evaluation.only = row.Text();
  evaluation.priority = static_cast<int>(row.Int());
  evaluation.state = row.Word(&ParseEvaluationState);
  evaluation.revision = row.Text();
  evaluation.message = row.Text();
  evaluation.requested_at = row.Time();
  evaluation.settled_at = row.TimeOr(absl::InfiniteFuture());
  evaluation.gate_passed = row.Bool();
  evaluation.branch = row.Text();
  evaluation.wanted_revision = row.Text();
  return evaluation;
}

DerivedListRecord ReadDerivedList(RowReader& row) {
  DerivedListRecord list;
  row.Id(list.evaluation);
  list.revision = row.Text();
  list.packages = row.List();
  list.notes = row.List();
  list.complete = row.Bool();
  return list;
}

void WriteVariant(const VariantRecord& variant, RowWriter& row) {
  std::vector<std::string> names, paths;
  for (const auto& [name, path] : variant.outputs) {
    names.push_back(name);
    paths.push_back(path);
  }
  row.Id(variant.evaluation)
      .Text(variant.id)
      .Int(variant.ordinal)
      .Text(variant.package)
      .TextOrNull(variant.slice_json)
      .Why(variant.cause)
      .Prose(variant.message)
      .TextOrNull(variant.derivation)
      .List(names)
      .List(paths)
      .Text(variant.environment)
      .Text(variant.environment_output)
      .TextOrNull(variant.facts_json)
      .TextOrNull(variant.tier);
}
constexpr size_t kVariantWidth = 14;

VariantRecord ReadVariant(RowReader& row) {
  VariantRecord variant;
  row.Id(variant.evaluation);
  variant.id = row.Text();
  variant.ordinal = static_cast<int>(row.Int());
  variant.package = row.Text();
  variant.slice_json = row.Text();
  variant.cause = row.Why();
  variant.message = row.Text();
  variant.derivation = row.Text();
  const std::vector<std::string> names = row.List(), paths = row.List();
  for (size_t i = 0; i < names.size() && i < paths.size(); ++i) variant.outputs[names[i]] = paths[i];
  variant.environment = row.Text();
  variant.environment_output = row.Text();
  variant.facts_json = row.Text();
  variant.tier = row.Text();
  return variant;
}

std::string IdArray(const std::vector<EvaluationId>& ids) {
  ArrayText array;
  for (const EvaluationId id : ids) array.Add(absl::StrCat(id.value));
  return array.Take();
}

std::vector<EvaluationId> IdsOf(const std::vector<EvaluationRecord>& evaluations) {
  std::vector<EvaluationId> ids;
  ids.reserve(evaluations.size());
  for (const EvaluationRecord& evaluation : evaluations) ids.push_back(evaluation.id);
  return ids;
}

}  // namespace

absl::Status Apply(PostgresSession& session, const SaveMatrix& change) {
  const MatrixTextRecord& text = change.text;
  Parameters text_row;
  text_row.Text(text.digest).Text(text.toml).Text(text.directory).Text(text.file);
  HYDRANT_RETURN_IF_ERROR(session.Execute("save_matrix_text", text_row).status());
  if (!text.files.empty()) {
    Columns files(2);
    for (const auto& [name, content] : text.files) files.Text(name).Bytes(content);
    Parameters file_rows;
    file_rows.Text(text.digest);
    files.MoveTo(file_rows);
    HYDRANT_RETURN_IF_ERROR(session.Execute("save_matrix_files", file_rows).status());
  }
  const MatrixRecord& matrix = change.matrix;
  Parameters row;
  row.Text(matrix.name).Text(matrix.digest).Bool(matrix.from_folder).Time(matrix.applied_at);
  return ExecuteGuarded(session, "save_matrix", row, matrix.name, "was not saved");
}

absl::Status Apply(PostgresSession& session, const CreateEvaluation& change) {
  Parameters row;
  WriteEvaluation(change.evaluation, row);
  return ExecuteGuarded(session, "create_evaluation", row, absl::StrCat(change.evaluation.id.value),
                        "its number was given before");
}

absl::Status Apply(PostgresSession& session, const MoveEvaluation& change) {
  Parameters row;
  row.Id(change.id)
      .Text(EvaluationStateName(change.from))
      .Text(EvaluationStateName(change.to))
      .Text(change.revision)
      .Prose(change.message)
      .TimeOrNull(change.settled_at, absl::InfiniteFuture())
      .Bool(change.gate_passed);
  return ExecuteGuarded(session, "move_evaluation", row, absl::StrCat(change.id.value),
                        absl::StrCat("is not ", AbslView(EvaluationStateName(change.from))));
}

absl::Status Apply(PostgresSession& session, const SaveDerivedList& change) {
  const DerivedListRecord& list = change.list;
  std::vector<std::string> notes;
  notes.reserve(list.notes.size());
  for (const std::string& note : list.notes) notes.push_back(CleanUtf8(note));
  Parameters row;
  row.Id(list.evaluation).Text(list.revision).List(list.packages).List(notes).Bool(list.complete);
  return session.Execute("save_derived_list", row).status();
}

absl::Status Apply(PostgresSession& session, const SaveVariants& change) {
  for (const auto& piece : Pieces(change.variants, &VariantRecord::id)) {
    Columns columns(kVariantWidth);
    for (const VariantRecord& variant : piece) WriteVariant(variant, columns);
    Parameters rows;
    columns.MoveTo(rows);
    HYDRANT_RETURN_IF_ERROR(session.Execute("save_variants", rows).status());
    HYDRANT_RETURN_IF_ERROR(SaveFindings(session, piece));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<EvaluationRecord>> FindEvaluations(PostgresSession& session,
                                                              std::string_view matrix, int limit) {
  Parameters parameters;
  parameters.Text(matrix).Int(limit);
  return LoadRows(session, "find_evaluations", parameters, &ReadEvaluation);
}

absl::StatusOr<std::vector<VariantRecord>> LoadVariants(PostgresSession& session,
                                                        const std::vector<EvaluationId>& evaluations) {
  Parameters parameters;
  parameters.Text(IdArray(evaluations));
  HYDRANT_ASSIGN_OR_RETURN(std::vector<VariantRecord> variants,
                           LoadRows(session, "load_variants", parameters, &ReadVariant));
  HYDRANT_RETURN_IF_ERROR(LoadFindings(session, parameters, variants));
  return variants;
}

absl::Status LoadEvaluations(PostgresSession& session, Recorded& recorded) {
  HYDRANT_ASSIGN_OR_RETURN(recorded.evaluations, LoadRows(session, "load_evaluations", {}, &ReadEvaluation));
  HYDRANT_ASSIGN_OR_RETURN(recorded.variants, LoadVariants(session, IdsOf(recorded.evaluations)));
  Parameters of_evaluations;
  of_evaluations.Text(IdArray(IdsOf(recorded.evaluations)));
  HYDRANT_ASSIGN_OR_RETURN(recorded.derived_lists,
                           LoadRows(session, "load_derived_lists", of_evaluations, &ReadDerivedList));
  return absl::OkStatus();
}

absl::Status LoadMatrices(PostgresSession& session, Recorded& recorded) {
  HYDRANT_ASSIGN_OR_RETURN(recorded.matrices, LoadRows(session, "load_matrices", {}, &ReadMatrix));
  Parameters of_evaluations;
  of_evaluations.Text(IdArray(IdsOf(recorded.evaluations)));
  HYDRANT_ASSIGN_OR_RETURN(recorded.texts,
                           LoadRows(session, "load_matrix_texts", of_evaluations, &ReadMatrixText));
  std::map<std::string, MatrixTextRecord*> by_digest;
  std::vector<std::string> digests;
  for (MatrixTextRecord& text : recorded.texts) {
    by_digest[text.digest] = &text;
    digests.push_back(text.digest);
  }
  Parameters of_texts;
  of_texts.List(digests);
  HYDRANT_ASSIGN_OR_RETURN(std::vector<MatrixFile> files,
                           LoadRows(session, "load_matrix_files", of_texts, &ReadMatrixFile));
  for (MatrixFile& file : files) by_digest[file.digest]->files[file.name] = std::move(file.content);
  return absl::OkStatus();
}

}  // namespace hydrant
