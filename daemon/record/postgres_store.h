// The record in PostgreSQL: one connection, one transaction a batch, and an advisory lock that elects the one
// active hydrantd. A lost connection is made anew by the next call; nothing here waits for a server to come
// back.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_STORE_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/record/postgres_session.h"
#include "daemon/record/state_store.h"
#include "lib/base/mutex.h"

namespace hydrant {

class PostgresStore final : public StateStore {
 public:
  struct Options {
    std::string url;  // a URL or libpq's key=value words
    absl::Duration connect_timeout = absl::Seconds(5);
    absl::Duration statement_timeout = absl::Seconds(10);  // of a commit's statement; loads may take longer
    // Told the name and seconds of every statement. Called with the store's lock held: must not call back.
    // The last time in the store's destructor.
    std::function<void(std::string_view statement, double seconds)> observer;
  };

  // InvalidArgument for a URL that cannot be read. Connects to nothing: the first Load does.
  static absl::StatusOr<std::unique_ptr<PostgresStore>> Open(Options options);

  // Gives the lock up, so that the next hydrantd is elected at once.
  ~PostgresStore() override;

  // Elects this hydrantd, brings the schema up, and reads. FailedPrecondition also for a schema that it
  // cannot bring up. Until it was OK once, all other calls are FailedPrecondition; once another hydrantd was
  // elected meanwhile, all calls are.
  absl::StatusOr<Recorded> Load() override;
  absl::Status Commit(const Batch& batch) override;
  absl::StatusOr<std::vector<AttemptRecord>> Attempts(const AttemptSubject& subject, int limit) override;
  absl::StatusOr<AttemptRecord> FindAttempt(AttemptId id) override;
  absl::StatusOr<std::vector<EvaluationRecord>> Evaluations(std::string_view matrix, int limit) override;
  absl::StatusOr<std::vector<VariantRecord>> Variants(EvaluationId evaluation) override;
  absl::StatusOr<std::vector<AttemptCount>> CountAttempts() override;

 private:
  explicit PostgresStore(Options options);
  // A live connection that holds the lock, with every statement prepared.
  absl::Status Attach() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status TakeLock(PostgresSession& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status KeepReign(PostgresSession& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Begin(std::string_view statement) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Rollback() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `read` on a live connection; once more when the connection turns out to be lost.
  template <class T>
  absl::StatusOr<T> Read(const std::function<absl::StatusOr<T>(PostgresSession&)>& read);

  const Options options_;
  const std::string application_name_;  // of this store alone
  Mutex mu_;
  std::unique_ptr<PostgresSession> session_ ABSL_GUARDED_BY(mu_);
  std::optional<int64_t> reign_ ABSL_GUARDED_BY(mu_);  // ours, once elected
  absl::Status deposed_ ABSL_GUARDED_BY(mu_);          // why for ever after, once another was elected
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_STORE_H_
