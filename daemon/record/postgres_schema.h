// Brings a database to the newest schema: numbered files, forward only, each applied once and never changed
// after.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_SCHEMA_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_SCHEMA_H_

#include <span>

#include "absl/status/status.h"
#include "daemon/record/embedded_sql.h"
#include "daemon/record/postgres_session.h"

namespace hydrant {

// Each file in a transaction of its own. FailedPrecondition, and nothing is applied: an applied file was
// changed, is not among `files` (a newer hydrantd was here), or comes after one that was not applied.
absl::Status BringSchemaUp(PostgresSession& session, std::span<const EmbeddedFile> files);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_SCHEMA_H_
