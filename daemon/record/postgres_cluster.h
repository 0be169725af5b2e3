// A private PostgreSQL server that hydrantd owns: made at the first start, found again after hydrantd's
// death, started again after its own. Listens only on a Unix socket in a folder that nobody else may enter.
// Knows nothing of what is stored.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_CLUSTER_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_CLUSTER_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/record/postgres_identity.h"
#include "daemon/record/postgres_installation.h"
#include "lib/base/mutex.h"
#include "lib/base/unique_fd.h"

namespace hydrant {

class EmbeddedPostgres {
 public:
  struct Options {
    std::string folder;   // gets data/, server.log and the socket; made with mode 0700
    bool durable = true;  // false: a crash of the machine, not of the server, may lose it all; for tests
  };

  // Makes the cluster (initdb) and its database `hydrant` where they are absent; takes over a server that
  // runs and answers, else starts one, and waits for its recovery. From then on a thread starts it again when
  // it ends.
  //   FailedPrecondition: no programs, or not of the cluster's version (names the package); a folder that is
  //   not empty and no
  //     cluster, or that the server's user cannot reach; another hydrantd has it.
  //   Unavailable: the server did not start; with the end of its log.
  static absl::StatusOr<std::unique_ptr<EmbeddedPostgres>> Start(Options options);
  // Leaves the server running: the next Start takes it over.
  ~EmbeddedPostgres();
  EmbeddedPostgres(const EmbeddedPostgres&) = delete;
  EmbeddedPostgres& operator=(const EmbeddedPostgres&) = delete;

  // For PostgresStore::Options.
  std::string Url(const std::string& database = "hydrant") const;
  // Of the server now; 0 while it is started again. Also the first line of FOLDER/data/postmaster.pid.
  pid_t pid() const;
  const std::string& socket_folder() const { return socket_folder_; }

  // A database beside `hydrant`, as a copy of `source` unless that is empty. AlreadyExists.
  absl::Status CreateDatabase(const std::string& name, const std::string& source = "");

  // Ends the server in its fast way: clients are cut off, what was committed is on disk. Then this object is
  // of no use.
  absl::Status Stop();

 private:
  explicit EmbeddedPostgres(Options options) : options_(std::move(options)) {}
  absl::Status TakeFolder();
  absl::Status InitCluster();
  absl::Status ChooseSocketFolder();
  absl::Status PrepareSocketFolder() const;
  absl::Status WriteSettings() const;
  absl::Status EnsureRunning();
  absl::Status LaunchServer();
  absl::Status ClearStaleFiles() const;
  void Watch();
  bool StopAskedWithin(absl::Duration time) const;
  absl::Status EndServer(pid_t pid) const;

  Options options_;
  std::string data_, log_, socket_folder_;
  PostgresInstallation installation_;
  PostgresIdentity identity_;
  UniqueFd lock_;  // on FOLDER/lock: one hydrantd a cluster
  UniqueFd stop_;  // an eventfd: readable once the watch shall end
  std::thread watch_;
  mutable Mutex mu_;
  pid_t pid_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_CLUSTER_H_
