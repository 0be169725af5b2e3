// A file of named statements: each begins at a line `-- name: move_steps` and ends with its `;`. Knows no SQL
// beyond comments.
#ifndef HYDRANT_DAEMON_RECORD_STATEMENT_FILE_H_
#define HYDRANT_DAEMON_RECORD_STATEMENT_FILE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/record/embedded_sql.h"

namespace hydrant {

struct Statement {
  std::string name, text;  // the text without comments and the last `;`
};

// InvalidArgument, "FILE:LINE: …": a bad name, no statement or two under one name, or text before the first
// name.
absl::StatusOr<std::vector<Statement>> ParseStatements(std::string_view file, std::string_view text);

// Those of all files. InvalidArgument also for a name that stands twice.
absl::StatusOr<std::vector<Statement>> ParseStatementFiles(std::span<const EmbeddedFile> files);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_STATEMENT_FILE_H_
