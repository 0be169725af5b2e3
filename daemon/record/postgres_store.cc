#include "daemon/record/postgres_store.h"

#include <unistd.h>

#include <array>
#include <random>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/record/postgres_changes.h"
#include "daemon/record/postgres_processes.h"
#include "daemon/record/postgres_schema.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

std::string ShortHostName() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') return "localhost";
  return std::string(host.data()).substr(0, 24);
}

// "hydrantd PID HOST NONCE": who holds the lock, for a person and for the store itself. PostgreSQL keeps 63
// bytes.
std::string MakeApplicationName() {
  std::random_device random;
  return absl::StrCat("hydrantd ", getpid(), " ", ShortHostName(), " ",
                      absl::Hex(uint64_t{random()} << 32 | random(), absl::kZeroPad16));
}

// Why another's session that holds the lock keeps us from being the active one.
absl::Status HeldBy(const std::string& application_name, int64_t backend) {
  const std::vector<std::string> words = absl::StrSplit(application_name, ' ');
  int pid = 0;
  if (words.size() != 4 || words[0] != "hydrantd" || !absl::SimpleAtoi(words[1], &pid)) {
    return absl::FailedPreconditionError(
        absl::StrCat("another hydrantd is active (PostgreSQL's process ", backend, ")"));
  }
  if (words[2] == ShortHostName() && !IsRunning(pid)) {
    return absl::UnavailableError(
        absl::StrCat("the server is still ending the connection of hydrantd ", pid, ", which is dead"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("another hydrantd is active (pid ", pid, " on ", words[2], ")"));
}

absl::Status NotRecorded(const absl::Status& status) { return Annotate(status, "nothing recorded"); }

absl::StatusOr<Recorded> LoadAll(PostgresSession& session) {
  HYDRANT_RETURN_IF_ERROR(session.Execute("begin_load").status());
  Recorded recorded;
  for (auto* load :
       {&LoadEvaluations, &LoadMatrices, &LoadSteps, &LoadChecks, &LoadAttempts, &LoadCache, &LoadWorkers}) {
    HYDRANT_RETURN_IF_ERROR(load(session, recorded));
  }
  HYDRANT_RETURN_IF_ERROR(session.Execute("commit").status());
  return recorded;
}

}  // namespace

PostgresStore::PostgresStore(Options options)
    : options_(std::move(options)), application_name_(MakeApplicationName()) {}

absl::StatusOr<std::unique_ptr<PostgresStore>> PostgresStore::Open(Options options) {
  HYDRANT_RETURN_IF_ERROR(PostgresSession::CheckUrl(options.url));
  return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(options)));
}

PostgresStore::~PostgresStore() {
  MutexLock lock(mu_);
  if (session_ != nullptr && !session_->lost()) (void)session_->Execute("release_lock", {}, absl::Seconds(1));
}

absl::StatusOr<Recorded> PostgresStore::Load() {
  MutexLock lock(mu_);
  for (int attempt = 1;; ++attempt) {
    const bool made_anew = session_ == nullptr;
    HYDRANT_RETURN_IF_ERROR(Attach());
    absl::StatusOr<Recorded> recorded = LoadAll(*session_);
    if (!recorded.ok()) Rollback();
    if (recorded.ok() || session_ != nullptr || made_anew || attempt > 1) return recorded;
  }
}

absl::Status PostgresStore::Commit(const Batch& batch) {
  MutexLock lock(mu_);
  if (!reign_.has_value()) return absl::FailedPreconditionError("commit: Load was not called before");
  if (batch.empty()) return deposed_;
  HYDRANT_RETURN_IF_ERROR(NotRecorded(Begin("begin")));
  for (const Change& change : batch) {
    PostgresSession& session = *session_;
    const absl::Status status = std::visit([&session](const auto& c) { return Apply(session, c); }, change);
    if (!status.ok()) {
      Rollback();
      return absl::IsUnavailable(status) ? NotRecorded(status) : status;
    }
  }
  const absl::StatusOr<PostgresRows> committed = session_->Execute("commit");
  if (committed.ok()) {
    if (committed->tag() == "COMMIT") return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("nothing recorded: PostgreSQL answered commit with ", AbslView(committed->tag())));
  }
  const bool unknown = session_->lost();
  Rollback();
  return unknown ? UnknownCommit(StdView(committed.status().message())) : NotRecorded(committed.status());
}

absl::StatusOr<std::vector<AttemptRecord>> PostgresStore::Attempts(const AttemptSubject& subject, int limit) {
  return Read<std::vector<AttemptRecord>>(
      [&](PostgresSession& session) { return FindAttempts(session, subject, limit); });
}

absl::StatusOr<AttemptRecord> PostgresStore::FindAttempt(AttemptId id) {
  return Read<AttemptRecord>([&](PostgresSession& session) { return hydrant::FindAttempt(session, id); });
}

absl::StatusOr<std::vector<EvaluationRecord>> PostgresStore::Evaluations(std::string_view matrix, int limit) {
  return Read<std::vector<EvaluationRecord>>(
      [&](PostgresSession& session) { return FindEvaluations(session, matrix, limit); });
}

absl::StatusOr<std::vector<VariantRecord>> PostgresStore::Variants(EvaluationId evaluation) {
  return Read<std::vector<VariantRecord>>(
      [&](PostgresSession& session) { return LoadVariants(session, {evaluation}); });
}

absl::StatusOr<std::vector<StateStore::AttemptCount>> PostgresStore::CountAttempts() {
  return Read<std::vector<AttemptCount>>(
      [](PostgresSession& session) { return hydrant::CountAttempts(session); });
}

absl::Status PostgresStore::Attach() {
  HYDRANT_RETURN_IF_ERROR(deposed_);
  if (session_ != nullptr && !session_->lost()) return absl::OkStatus();
  session_.reset();
  HYDRANT_ASSIGN_OR_RETURN(
      std::unique_ptr<PostgresSession> session,
      PostgresSession::Connect({options_.url, application_name_, options_.connect_timeout,
                                options_.statement_timeout, options_.observer}));
  // The lock before anything else: without it the schema is another's too.
  HYDRANT_RETURN_IF_ERROR(TakeLock(*session));
  HYDRANT_RETURN_IF_ERROR(BringSchemaUp(*session, SchemaFiles()));
  HYDRANT_RETURN_IF_ERROR(session->PrepareAll());
  HYDRANT_RETURN_IF_ERROR(KeepReign(*session));
  session_ = std::move(session);
  return absl::OkStatus();
}

absl::Status PostgresStore::TakeLock(PostgresSession& session) {
  HYDRANT_ASSIGN_OR_RETURN(const PostgresRows taken, session.Execute("take_lock"));
  if (RowReader(taken, 0).Bool()) return absl::OkStatus();
  HYDRANT_ASSIGN_OR_RETURN(const PostgresRows holder, session.Execute("lock_holder"));
  if (holder.size() == 0) return absl::UnavailableError("another hydrantd was active just now");
  RowReader row(holder, 0);
  const int64_t backend = row.Int();
  const std::string name = row.Text();
  if (name == application_name_) {
    // Our own connection of before: the server has not noticed that it is lost.
    Parameters parameters;
    parameters.Int(backend);
    HYDRANT_RETURN_IF_ERROR(session.Execute("end_session", parameters).status());
    return absl::UnavailableError("the server is still ending this hydrantd's lost connection");
  }
  absl::Status held = HeldBy(name, backend);
  if (reign_.has_value() && absl::IsFailedPrecondition(held)) deposed_ = held;
  return held;
}

// The lock was free for a moment: whoever took it meanwhile, and may be gone again, has begun a reign of its
// own.
absl::Status PostgresStore::KeepReign(PostgresSession& session) {
  const bool first = !reign_.has_value();
  HYDRANT_ASSIGN_OR_RETURN(const PostgresRows rows,
                           session.Execute(first ? "begin_reign" : "load_last_given"));
  if (rows.size() != 1) return absl::InternalError("last_given: expected one row");
  const int64_t reign = RowReader(rows, 0).Int();
  if (first) {
    reign_ = reign;
  } else if (reign != *reign_) {
    deposed_ =
        absl::FailedPreconditionError("another hydrantd was active since this one lost its connection");
  }
  return deposed_;
}

absl::Status PostgresStore::Begin(std::string_view statement) {
  const bool made_anew = session_ == nullptr;
  HYDRANT_RETURN_IF_ERROR(Attach());
  absl::Status status = session_->Execute(statement).status();
  if (!status.ok() && session_->lost() && !made_anew) {
    // Lost while it was idle, as after the server's restart: nothing was sent that could be recorded.
    Log(LogLevel::kWarning, "database connection lost", {{"error", StdView(status.message())}});
    HYDRANT_RETURN_IF_ERROR(Attach());
    status = session_->Execute(statement).status();
  }
  if (!status.ok()) Rollback();
  return status;
}

void PostgresStore::Rollback() {
  if (session_ != nullptr && session_->in_transaction()) (void)session_->Execute("rollback");
  // A connection that is not known to be clean is of no use.
  if (session_ != nullptr && (session_->lost() || session_->in_transaction())) session_.reset();
}

template <class T>
absl::StatusOr<T> PostgresStore::Read(const std::function<absl::StatusOr<T>(PostgresSession&)>& read) {
  MutexLock lock(mu_);
  if (!reign_.has_value()) return absl::FailedPreconditionError("read: Load was not called before");
  for (int attempt = 1;; ++attempt) {
    const bool made_anew = session_ == nullptr;
    HYDRANT_RETURN_IF_ERROR(Attach());
    absl::StatusOr<T> result = read(*session_);
    if (!result.ok()) Rollback();
    if (result.ok() || session_ != nullptr || made_anew || attempt > 1) return result;
  }
}

}  // namespace hydrant
