#include "daemon/record/postgres_schema.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr absl::Duration kScriptTimeout = absl::Minutes(30);

using Applied = std::map<std::string, std::string>;  // checksum by file

absl::StatusOr<Applied> LoadApplied(PostgresSession& session) {
  HYDRANT_ASSIGN_OR_RETURN(const PostgresRows rows, session.Execute("load_schema_versions"));
  Applied applied;
  for (int i = 0; i < rows.size(); ++i) {
    RowReader row(rows, i);
    const std::string file = row.Text();
    applied[file] = row.Text();
  }
  return applied;
}

absl::Status CheckApplied(const Applied& applied, std::span<const EmbeddedFile> files) {
  std::map<std::string, const EmbeddedFile*> known;
  for (const EmbeddedFile& file : files) known[std::string(file.name)] = &file;
  for (const auto& [name, checksum] : applied) {
    const auto file = known.find(name);
    if (file == known.end()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the database has schema file ", name, ", which this hydrantd does not know: a newer one used it"));
    }
    if (file->second->sha256 != checksum) {
      return absl::FailedPreconditionError(
          absl::StrCat("schema file ", name, " was changed after it was applied: expected SHA-256 ", checksum,
                       ", it has ", AbslView(file->second->sha256)));
    }
  }
  for (const auto& [name, file] : known) {
    if (!applied.empty() && !applied.contains(name) && name < applied.rbegin()->first) {
      return absl::FailedPreconditionError(absl::StrCat("schema file ", name, " was not applied, but ",
                                                        applied.rbegin()->first, " after it was"));
    }
  }
  return absl::OkStatus();
}

absl::Status ApplyFile(PostgresSession& session, const EmbeddedFile& file) {
  HYDRANT_RETURN_IF_ERROR(session.Execute("begin").status());
  HYDRANT_RETURN_IF_ERROR(session.RunScript(file.name, file.text, kScriptTimeout).status());
  Parameters parameters;
  parameters.Text(file.name).Text(file.sha256);
  HYDRANT_RETURN_IF_ERROR(session.Execute("add_schema_version", parameters).status());
  HYDRANT_RETURN_IF_ERROR(session.Execute("commit").status());
  Log(LogLevel::kInfo, "schema file applied", {{"file", file.name}});
  return absl::OkStatus();
}

}  // namespace

absl::Status BringSchemaUp(PostgresSession& session, std::span<const EmbeddedFile> files) {
  HYDRANT_RETURN_IF_ERROR(session.Execute("create_schema_version").status());
  HYDRANT_ASSIGN_OR_RETURN(const Applied applied, LoadApplied(session));
  HYDRANT_RETURN_IF_ERROR(CheckApplied(applied, files));
  for (const EmbeddedFile& file : files) {
    if (applied.contains(std::string(file.name))) continue;
    if (const absl::Status status = ApplyFile(session, file); !status.ok()) {
      if (session.in_transaction()) (void)session.Execute("rollback");
      return Annotate(status, "bring the database's schema up");
    }
  }
  return absl::OkStatus();
}

}  // namespace hydrant
