// As whom a PostgreSQL server of ours runs: it refuses root. Knows nothing of clusters but their folder.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_IDENTITY_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_IDENTITY_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hydrant {

struct PostgresIdentity {
  std::vector<std::string> prefix;  // what goes before a program's argv
  uid_t uid = 0;                    // who owns its files, as we see it
  gid_t gid = 0;
  std::string words;  // "as this user", "in a user namespace", "as user postgres"
};

// For the server of `folder`, which exists; `data` may. An unprivileged process: itself. Root: in a user
// namespace, where it is nobody; if that is not allowed or the cluster belongs to another user, that user or
// `postgres`, to whom `folder` is given. FailedPrecondition names the folder that the server could not reach.
absl::StatusOr<PostgresIdentity> ChoosePostgresIdentity(const std::string& folder, const std::string& data);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_IDENTITY_H_
