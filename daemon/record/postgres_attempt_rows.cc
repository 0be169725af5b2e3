// attempt (with its lease), last_given.
#include "absl/strings/str_cat.h"
#include "daemon/record/postgres_changes.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

AttemptRecord ReadAttempt(RowReader& row) {
  AttemptRecord attempt;
  Lease& lease = attempt.lease;
  row.Id(lease.attempt);
  row.Id(lease.token);
  lease.subject.derivation = row.Text();
  lease.subject.check = row.Text();
  lease.worker = row.Text();
  lease.instance = row.Text();
  lease.gpu_uuid = row.Text();
  lease.stage = row.Word(&ParseAttemptStage);
  lease.granted_at = row.Time();
  lease.expires_at = row.Time();
  lease.stage_at = row.Time();
  AttemptResult& result = attempt.result;
  result.outcome = row.Text();
  result.cause = row.Why();
  result.message = row.Text();
  result.fetching = row.Microseconds();
  result.building = row.Microseconds();
  result.pushing = row.Microseconds();
  result.cpu = row.Microseconds();
  result.max_memory_bytes = row.Int();
  result.log_bytes = row.Int();
  result.ended_at = row.Time();
  return attempt;
}

Recorded::Observed ReadObserved(RowReader& row) {
  Recorded::Observed observed;
  observed.derivation = row.Text();
  observed.building = row.Microseconds();
  observed.cpu = row.Microseconds();
  return observed;
}

Recorded::ObservedCheck ReadObservedCheck(RowReader& row) {
  Recorded::ObservedCheck observed;
  observed.key = row.Text();
  observed.running = row.Microseconds();
  return observed;
}

StateStore::AttemptCount ReadCount(RowReader& row) {
  StateStore::AttemptCount count;
  count.outcome = row.Text();
  count.cause = row.Text();
  count.count = row.Int();
  return count;
}

std::string KeyOf(AttemptId attempt) { return absl::StrCat("attempt ", attempt.value); }

constexpr std::string_view kNoLiveLease = "there is no live lease of that token";

}  // namespace

absl::Status Apply(PostgresSession& session, const GrantLease& change) {
  const Lease& lease = change.lease;
  Parameters row;
  row.Id(lease.attempt)
      .Id(lease.token)
      .TextOrNull(lease.subject.derivation)
      .TextOrNull(lease.subject.check)
      .Text(lease.worker)
      .Text(lease.instance)
      .TextOrNull(lease.gpu_uuid)
      .Text(AttemptStageName(lease.stage))
      .Time(lease.granted_at)
      .Time(lease.expires_at)
      .Time(lease.stage_at);
  return ExecuteGuarded(session, "grant_lease", row, KeyOf(lease.attempt),
                        "its number or token was given before");
}

absl::Status Apply(PostgresSession& session, const AdvanceAttempt& change) {
  Parameters row;
  row.Id(change.attempt)
      .Id(change.token)
      .Text(AttemptStageName(change.stage))
      .TimeOrNull(change.at, absl::InfinitePast());
  return ExecuteGuarded(
      session, "advance_attempt", row, KeyOf(change.attempt),
      absl::StrCat(AbslView(kNoLiveLease), ", or it is beyond ", AbslView(AttemptStageName(change.stage))));
}

absl::Status Apply(PostgresSession& session, const RenewLeases& change) {
  ArrayText attempts;
  for (const AttemptId attempt : change.attempts) attempts.Add(absl::StrCat(attempt.value));
  Parameters row;
  row.Text(attempts.Take()).Time(change.expires_at);
  return session.Execute("renew_leases", row).status();
}

absl::Status Apply(PostgresSession& session, const EndAttempt& change) {
  const AttemptResult& result = change.result;
  Parameters row;
  row.Id(change.attempt)
      .Id(change.token)
      .Text(change.lease_end)
      .Text(result.outcome)
      .Why(result.cause)
      .Prose(result.message)
      .Microseconds(result.fetching)
      .Microseconds(result.building)
      .Microseconds(result.pushing)
      .Microseconds(result.cpu)
      .Int(result.max_memory_bytes)
      .Int(result.log_bytes)
      .Time(result.ended_at);
  return ExecuteGuarded(session, "end_attempt", row, KeyOf(change.attempt), kNoLiveLease);
}

absl::Status LoadAttempts(PostgresSession& session, Recorded& recorded) {
  HYDRANT_ASSIGN_OR_RETURN(recorded.live_attempts, LoadRows(session, "load_live_attempts", {}, &ReadAttempt));
  HYDRANT_ASSIGN_OR_RETURN(recorded.durations, LoadRows(session, "load_durations", {}, &ReadObserved));
  HYDRANT_ASSIGN_OR_RETURN(recorded.check_durations, LoadRows(session, "load_check_durations", {}, &ReadObservedCheck));
  HYDRANT_ASSIGN_OR_RETURN(const PostgresRows rows, session.Execute("load_last_given"));
  if (rows.size() != 1) return absl::InternalError("load_last_given: expected one row");
  RowReader row(rows, 0);
  row.Int();  // the reign
  row.Id(recorded.last_evaluation);
  row.Id(recorded.last_attempt);
  row.Id(recorded.last_token);
  return row.status();
}

absl::StatusOr<std::vector<AttemptRecord>> FindAttempts(PostgresSession& session,
                                                        const AttemptSubject& subject, int limit) {
  Parameters parameters;
  parameters.Text(subject.check.empty() ? subject.derivation : subject.check).Int(limit);
  return LoadRows(session, subject.check.empty() ? "find_attempts_of_step" : "find_attempts_of_check",
                  parameters, &ReadAttempt);
}

absl::StatusOr<AttemptRecord> FindAttempt(PostgresSession& session, AttemptId id) {
  Parameters parameters;
  parameters.Int(id.value);
  HYDRANT_ASSIGN_OR_RETURN(std::vector<AttemptRecord> attempts,
                           LoadRows(session, "find_attempt", parameters, &ReadAttempt));
  if (attempts.empty()) return absl::NotFoundError(absl::StrCat("there is no ", KeyOf(id)));
  return std::move(attempts.front());
}

absl::StatusOr<std::vector<StateStore::AttemptCount>> CountAttempts(PostgresSession& session) {
  return LoadRows(session, "count_attempts", {}, &ReadCount);
}

}  // namespace hydrant
