// One connection to PostgreSQL that never waits longer than it was told to: a server that hangs is a
// connection lost. Knows the named statements, nothing of what they mean. One thread at a time.
#ifndef HYDRANT_DAEMON_RECORD_POSTGRES_SESSION_H_
#define HYDRANT_DAEMON_RECORD_POSTGRES_SESSION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/record/postgres_rows.h"

struct pg_conn;

namespace hydrant {

class PostgresSession {
 public:
  struct Options {
    std::string url;                                       // a URL or libpq's key=value words
    std::string application_name;                          // as pg_stat_activity shows it; at most 63 bytes
    absl::Duration connect_timeout = absl::Seconds(5);     // whole seconds
    absl::Duration statement_timeout = absl::Seconds(10);  // after which the connection counts as lost
    // Told the name and seconds of every statement. Must not call back.
    std::function<void(std::string_view statement, double seconds)> observer;
  };

  // InvalidArgument when `url` cannot be read; the message does not repeat it, for it may hold a password.
  static absl::Status CheckUrl(const std::string& url);

  // Unavailable: no server there, or it refuses.
  static absl::StatusOr<std::unique_ptr<PostgresSession>> Connect(Options options);
  PostgresSession(const PostgresSession&) = delete;
  PostgresSession& operator=(const PostgresSession&) = delete;

  // Prepares every named statement. Internal names the one that the server does not accept.
  absl::Status PrepareAll();

  // Runs a named statement. The message of every error begins with its name.
  //   Unavailable: the connection is lost (lost() says so), or the server cannot serve now.
  //   FailedPrecondition: a constraint holds against it. InvalidArgument: a value that the server does not
  //   take.
  absl::StatusOr<PostgresRows> Execute(std::string_view name, const Parameters& parameters = {},
                                       std::optional<absl::Duration> timeout = std::nullopt);
  // Runs a text of any number of statements, as a schema file is; the rows of the last.
  absl::StatusOr<PostgresRows> RunScript(std::string_view name, std::string_view text,
                                         absl::Duration timeout);

  bool lost() const;
  // Begun, and neither committed nor rolled back.
  bool in_transaction() const;

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  struct Clear {
    void operator()(pg_result* result) const;
  };
  using Result = std::unique_ptr<pg_result, Clear>;

  explicit PostgresSession(Options options) : options_(std::move(options)) {}
  absl::Status Lose(std::string_view name, std::string_view why);
  bool Send(std::string_view name, const Parameters& parameters);
  // The last result of what was sent, or the first error's.
  absl::StatusOr<Result> Receive(std::string_view name, absl::Duration timeout);
  absl::Status AwaitAnswer(std::string_view name, absl::Time deadline, absl::Duration timeout);

  Options options_;
  std::unique_ptr<pg_conn, Finish> connection_;               // null once lost
  absl::flat_hash_map<std::string, std::string> statements_;  // text by name
  absl::flat_hash_set<std::string> prepared_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_POSTGRES_SESSION_H_
