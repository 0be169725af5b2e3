#include "daemon/record/postgres_changes.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {

absl::Status GuardRefused(std::string_view statement, std::string_view key, std::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat(AbslView(statement), " ", AbslView(key), ": ", AbslView(what)));
}

absl::Status ExecuteGuarded(PostgresSession& session, std::string_view statement,
                            const Parameters& parameters, std::string_view key, std::string_view what) {
  const absl::StatusOr<PostgresRows> rows = session.Execute(statement, parameters);
  if (absl::IsFailedPrecondition(rows.status())) {
    return absl::FailedPreconditionError(absl::StrCat(rows.status().message(), " (", AbslView(key), ")"));
  }
  if (!rows.ok()) return rows.status();
  return rows->affected() == 1 ? absl::OkStatus() : GuardRefused(statement, key, what);
}

absl::Status ExecuteForAll(PostgresSession& session, std::string_view statement, const Parameters& parameters,
                           const std::vector<std::string>& keys, std::string_view what) {
  HYDRANT_ASSIGN_OR_RETURN(const PostgresRows rows, session.Execute(statement, parameters));
  absl::flat_hash_map<std::string, int> touched;
  for (int i = 0; i < rows.size(); ++i) ++touched[RowReader(rows, i).Text()];
  for (const std::string& key : keys) {
    if (touched[key]-- <= 0) return GuardRefused(statement, key, what);
  }
  return absl::OkStatus();
}

}  // namespace hydrant
