// derivation, step, check.
#include "absl/strings/str_cat.h"
#include "daemon/record/postgres_changes.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

DerivationRecord ReadDerivation(RowReader& row) {
  DerivationRecord derivation;
  derivation.path = row.Text();
  derivation.aterm = row.Bytes();
  return derivation;
}

void WriteDetail(const StepDetail& detail, RowWriter& row) {
  row.Why(detail.cause)
      .Prose(detail.message)
      .Text(detail.root)
      .Int(detail.failed_attempts)
      .Time(detail.not_before)
      .Text(detail.held_by);
}

StepRecord ReadStep(RowReader& row) {
  StepRecord step;
  step.derivation = row.Text();
  step.state = row.Word(&ParseStepState);
  step.detail.cause = row.Why();
  step.detail.message = row.Text();
  step.detail.root = row.Text();
  step.detail.failed_attempts = static_cast<int>(row.Int());
  step.detail.not_before = row.Time();
  step.detail.held_by = row.Text();
  return step;
}

// All but the key.
void WriteCheck(const CheckRecord& check, RowWriter& row) {
  row.Text(check.name)
      .Text(check.output_path)
      .Text(check.environment_path)
      .List(check.command)
      .Bool(check.gpu)
      .Text(check.wanted_architecture)
      .Microseconds(check.timeout)
      .Text(CheckStateName(check.state))
      .Why(check.cause)
      .Prose(check.message)
      .Text(check.architecture)
      .Text(check.driver)
      .Bool(check.simulated)
      .Id(check.attempt)
      .Int(check.failed_attempts);
}
constexpr size_t kCheckWidth = 16;

CheckRecord ReadCheck(RowReader& row) {
  CheckRecord check;
  check.key = row.Text();
  check.name = row.Text();
  check.output_path = row.Text();
  check.environment_path = row.Text();
  check.command = row.List();
  check.gpu = row.Bool();
  check.wanted_architecture = row.Text();
  check.timeout = row.Microseconds();
  check.state = row.Word(&ParseCheckState);
  check.cause = row.Why();
  check.message = row.Text();
  check.architecture = row.Text();
  check.driver = row.Text();
  check.simulated = row.Bool();
  row.Id(check.attempt);
  check.failed_attempts = static_cast<int>(row.Int());
  return check;
}

}  // namespace

absl::Status Apply(PostgresSession& session, const SaveDerivations& change) {
  for (const auto& piece : Pieces(change.derivations, &DerivationRecord::path)) {
    Columns columns(2);
    for (const DerivationRecord& derivation : piece) columns.Text(derivation.path).Bytes(derivation.aterm);
    Parameters rows;
    columns.MoveTo(rows);
    HYDRANT_RETURN_IF_ERROR(session.Execute("save_derivations", rows).status());
  }
  return absl::OkStatus();
}

absl::Status Apply(PostgresSession& session, const CreateSteps& change) {
  for (const auto& piece : Pieces(change.steps, &StepRecord::derivation)) {
    Columns columns(8);
    std::vector<std::string> keys;
    for (const StepRecord& step : piece) {
      columns.Text(step.derivation).Text(StepStateName(step.state));
      WriteDetail(step.detail, columns);
      keys.push_back(step.derivation);
    }
    Parameters rows;
    columns.MoveTo(rows);
    HYDRANT_RETURN_IF_ERROR(ExecuteForAll(session, "create_steps", rows, keys, "is there already"));
  }
  return absl::OkStatus();
}

absl::Status Apply(PostgresSession& session, const MoveSteps& change) {
  for (const auto& piece : Pieces(change.moves, &MoveSteps::Move::derivation)) {
    Columns columns(9);
    std::vector<std::string> keys;
    for (const MoveSteps::Move& move : piece) {
      columns.Text(move.derivation).Text(StepStateName(move.from)).Text(StepStateName(move.to));
      WriteDetail(move.detail, columns);
      keys.push_back(move.derivation);
    }
    Parameters rows;
    columns.MoveTo(rows);
    HYDRANT_RETURN_IF_ERROR(
        ExecuteForAll(session, "move_steps", rows, keys, "is not in the state that the move expects"));
  }
  return absl::OkStatus();
}

absl::Status Apply(PostgresSession& session, const CreateChecks& change) {
  for (const auto& piece : Pieces(change.checks, &CheckRecord::key)) {
    Columns columns(kCheckWidth);
    for (const CheckRecord& check : piece) {
      columns.Text(check.key);
      WriteCheck(check, columns);
    }
    Parameters rows;
    columns.MoveTo(rows);
    HYDRANT_RETURN_IF_ERROR(session.Execute("create_checks", rows).status());
  }
  return absl::OkStatus();
}

absl::Status Apply(PostgresSession& session, const MoveCheck& change) {
  Parameters row;
  row.Text(change.check.key).Text(CheckStateName(change.from));
  WriteCheck(change.check, row);
  return ExecuteGuarded(session, "move_check", row, change.check.key,
                        absl::StrCat("is not ", AbslView(CheckStateName(change.from))));
}

absl::Status LoadSteps(PostgresSession& session, Recorded& recorded) {
  HYDRANT_ASSIGN_OR_RETURN(recorded.derivations, LoadRows(session, "load_derivations", {}, &ReadDerivation));
  HYDRANT_ASSIGN_OR_RETURN(recorded.steps, LoadRows(session, "load_steps", {}, &ReadStep));
  return absl::OkStatus();
}

absl::Status LoadChecks(PostgresSession& session, Recorded& recorded) {
  HYDRANT_ASSIGN_OR_RETURN(recorded.checks, LoadRows(session, "load_checks", {}, &ReadCheck));
  return absl::OkStatus();
}

}  // namespace hydrant
