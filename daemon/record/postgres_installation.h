// Finds PostgreSQL's server programs. Knows nothing of clusters.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_INSTALLATION_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_INSTALLATION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace hydrant {

struct PostgresInstallation {
  int version = 0;       // major
  std::string programs;  // the folder of initdb, pg_ctl, postgres and createdb
};

// The newest, or the one of `version`: in DEBIAN_FOLDER/N/bin, else in PATH. FailedPrecondition names the
// package to install.
absl::StatusOr<PostgresInstallation> FindPostgres(std::optional<int> version,
                                                  const std::string& debian_folder = "/usr/lib/postgresql");

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_INSTALLATION_H_
