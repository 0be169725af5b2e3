// Each change as the guarded statements that record it, and each table as the records that it holds: written
// and read in one place a table group (postgres_*_rows.cc). Runs inside the caller's transaction.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_CHANGES_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_CHANGES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/record/postgres_rows.h"
#include "daemon/record/postgres_session.h"
#include "daemon/record/records.h"
#include "daemon/record/state_store.h"

namespace hydrant {

// FailedPrecondition, naming statement and key, when the guard does not hold. Then the caller rolls back.
absl::Status Apply(PostgresSession& session, const SaveMatrix& change);
absl::Status Apply(PostgresSession& session, const CreateEvaluation& change);
absl::Status Apply(PostgresSession& session, const MoveEvaluation& change);
absl::Status Apply(PostgresSession& session, const SaveDerivedList& change);
absl::Status Apply(PostgresSession& session, const SaveVariants& change);
absl::Status Apply(PostgresSession& session, const SaveDerivations& change);
absl::Status Apply(PostgresSession& session, const CreateSteps& change);
absl::Status Apply(PostgresSession& session, const MoveSteps& change);
absl::Status Apply(PostgresSession& session, const CreateChecks& change);
absl::Status Apply(PostgresSession& session, const MoveCheck& change);
absl::Status Apply(PostgresSession& session, const GrantLease& change);
absl::Status Apply(PostgresSession& session, const AdvanceAttempt& change);
absl::Status Apply(PostgresSession& session, const RenewLeases& change);
absl::Status Apply(PostgresSession& session, const EndAttempt& change);
absl::Status Apply(PostgresSession& session, const StageNarInfo& change);
absl::Status Apply(PostgresSession& session, const PublishNarInfos& change);
absl::Status Apply(PostgresSession& session, const OpenNarInfos& change);
absl::Status Apply(PostgresSession& session, const MoveChannel& change);
absl::Status Apply(PostgresSession& session, const SaveWorker& change);

// Parts of a Recorded. LoadMatrices needs the evaluations that were loaded before it.
absl::Status LoadEvaluations(PostgresSession& session, Recorded& recorded);
absl::Status LoadMatrices(PostgresSession& session, Recorded& recorded);
absl::Status LoadSteps(PostgresSession& session, Recorded& recorded);
absl::Status LoadChecks(PostgresSession& session, Recorded& recorded);
absl::Status LoadAttempts(PostgresSession& session, Recorded& recorded);
absl::Status LoadCache(PostgresSession& session, Recorded& recorded);
absl::Status LoadWorkers(PostgresSession& session, Recorded& recorded);

absl::StatusOr<std::vector<AttemptRecord>> FindAttempts(PostgresSession& session,
                                                        const AttemptSubject& subject, int limit);
absl::StatusOr<AttemptRecord> FindAttempt(PostgresSession& session, AttemptId id);
absl::StatusOr<std::vector<StateStore::AttemptCount>> CountAttempts(PostgresSession& session);
absl::StatusOr<std::vector<EvaluationRecord>> FindEvaluations(PostgresSession& session,
                                                              std::string_view matrix, int limit);
absl::StatusOr<std::vector<VariantRecord>> LoadVariants(PostgresSession& session,
                                                        const std::vector<EvaluationId>& evaluations);

// ---- For the postgres_*_rows files.

// Those of the variants, none of them twice, instead of what was there.
absl::Status SaveFindings(PostgresSession& session, std::span<const VariantRecord> variants);
// Into their variants; `evaluations` is the parameter that those were loaded by.
absl::Status LoadFindings(PostgresSession& session, const Parameters& evaluations,
                          std::vector<VariantRecord>& variants);

// More rows than this go in statements of their own.
inline constexpr size_t kRowsPerStatement = 2000;
// A load may read all of a large farm.
inline constexpr absl::Duration kLoadTimeout = absl::Minutes(2);

// The rows in pieces, in order: none longer than kRowsPerStatement, and none with one key twice, which a
// statement would take for one row.
template <class T>
std::vector<std::span<const T>> Pieces(const std::vector<T>& rows, std::string T::*key) {
  std::vector<std::span<const T>> pieces;
  absl::flat_hash_set<absl::string_view> keys;
  size_t begin = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i - begin == kRowsPerStatement || keys.contains(rows[i].*key)) {
      pieces.emplace_back(rows.data() + begin, i - begin);
      begin = i;
      keys.clear();
    }
    keys.insert(rows[i].*key);
  }
  if (begin < rows.size()) pieces.emplace_back(rows.data() + begin, rows.size() - begin);
  return pieces;
}

// FailedPrecondition "STATEMENT KEY: what".
absl::Status GuardRefused(std::string_view statement, std::string_view key, std::string_view what);

// Runs a statement that must touch exactly one row: else GuardRefused.
absl::Status ExecuteGuarded(PostgresSession& session, std::string_view statement,
                            const Parameters& parameters, std::string_view key, std::string_view what);

// Runs a statement that returns the key of each row that it touched, and must touch all of `keys`: else
// GuardRefused names the first that is missing.
absl::Status ExecuteForAll(PostgresSession& session, std::string_view statement, const Parameters& parameters,
                           const std::vector<std::string>& keys, std::string_view what);

// Every row that a loading statement gives.
template <class T>
absl::StatusOr<std::vector<T>> LoadRows(PostgresSession& session, std::string_view statement,
                                        const Parameters& parameters, T (*read)(RowReader&)) {
  absl::StatusOr<PostgresRows> rows = session.Execute(statement, parameters, kLoadTimeout);
  if (!rows.ok()) return rows.status();
  return ReadRows<T>(*rows, read);
}

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_CHANGES_H_
