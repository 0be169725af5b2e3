#include "daemon/record/postgres_session.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "daemon/record/statement_file.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// libpq's messages end with a line feed and may have more lines.
std::string OneLine(const char* message) {
  absl::string_view text = absl::StripAsciiWhitespace(message == nullptr ? "" : message);
  absl::ConsumePrefix(&text, "ERROR:  ");
  return absl::StrReplaceAll(text, {{"\n", "; "}});
}

// By the class of SQLSTATE: the appendix "PostgreSQL Error Codes" of its manual.
absl::StatusCode CodeOf(std::string_view sqlstate) {
  const std::string_view kind = sqlstate.substr(0, 2);
  if (kind == "23") return absl::StatusCode::kFailedPrecondition;  // integrity constraint violation
  if (kind == "22") return absl::StatusCode::kInvalidArgument;     // data exception
  // Connection, transaction rollback, insufficient resources, operator intervention, system error.
  for (const std::string_view away : {"08", "40", "53", "57", "58"}) {
    if (kind == away) return absl::StatusCode::kUnavailable;
  }
  return absl::StatusCode::kInternal;
}

bool IsError(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY;
}

absl::Status ErrorOf(std::string_view name, const PGresult* result) {
  const char* sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char* detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
  std::string message = primary != nullptr ? primary : OneLine(PQresultErrorMessage(result));
  if (detail != nullptr) absl::StrAppend(&message, " (", detail, ")");
  return absl::Status(CodeOf(sqlstate != nullptr ? sqlstate : "08000"),
                      absl::StrCat(AbslView(name), ": ", message));
}

int64_t WholeSeconds(absl::Duration duration) { return std::max<int64_t>(1, absl::ToInt64Seconds(duration)); }

}  // namespace

void PostgresSession::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }
void PostgresSession::Clear::operator()(pg_result* result) const { PQclear(result); }

absl::Status PostgresSession::CheckUrl(const std::string& url) {
  char* error = nullptr;
  PQconninfoOption* words = PQconninfoParse(url.c_str(), &error);
  if (words != nullptr) {
    PQconninfoFree(words);
    return absl::OkStatus();
  }
  PQfreemem(error);  // repeats parts of the URL
  return absl::InvalidArgumentError(
      "database url: expected postgresql://[USER[:PASSWORD]@][HOST[:PORT]]/NAME[?…] or \"host=… dbname=…\"");
}

absl::StatusOr<std::unique_ptr<PostgresSession>> PostgresSession::Connect(Options options) {
  HYDRANT_RETURN_IF_ERROR(CheckUrl(options.url));
  auto session = std::unique_ptr<PostgresSession>(new PostgresSession(std::move(options)));
  const Options& o = session->options_;
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<Statement> statements, ParseStatementFiles(QueryFiles()));
  for (const Statement& statement : statements) session->statements_[statement.name] = statement.text;

  const std::string seconds = absl::StrCat(WholeSeconds(o.connect_timeout));
  const std::string milliseconds = absl::StrCat(absl::ToInt64Milliseconds(o.statement_timeout));
  // A cut wire is noticed by both ends, so that neither holds the lock for long. What the URL says goes
  // before it.
  const std::array<const char*, 9> keywords{"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                            "keepalives_count", "tcp_user_timeout", "dbname",
                                            "application_name", "client_encoding",  nullptr};
  const std::array<const char*, 9> values{
      seconds.c_str(), "5",    "5", "3", milliseconds.c_str(), o.url.c_str(), o.application_name.c_str(),
      "UTF8",          nullptr};
  session->connection_.reset(PQconnectdbParams(keywords.data(), values.data(), /*expand_dbname=*/1));
  PGconn* connection = session->connection_.get();
  if (connection == nullptr || PQstatus(connection) != CONNECTION_OK) {
    return absl::UnavailableError(
        absl::StrCat("connect to PostgreSQL: ", OneLine(PQerrorMessage(connection))));
  }
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  if (PQsetnonblocking(connection, 1) != 0)
    return session->Lose("connect", OneLine(PQerrorMessage(connection)));
  HYDRANT_RETURN_IF_ERROR(session->Execute("configure_session").status());
  return session;
}

absl::Status PostgresSession::PrepareAll() {
  for (const auto& [name, text] : statements_) {
    if (prepared_.contains(name)) continue;
    if (lost()) return Lose(name, "the connection is lost");
    if (PQsendPrepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr) == 0) {
      return Lose(name, OneLine(PQerrorMessage(connection_.get())));
    }
    HYDRANT_ASSIGN_OR_RETURN(const Result result, Receive(name, options_.statement_timeout));
    if (IsError(result.get())) {
      absl::Status error = ErrorOf(name, result.get());
      if (absl::IsUnavailable(error)) return error;
      return absl::InternalError(absl::StrCat("prepare statement ", error.message()));
    }
    prepared_.insert(name);
  }
  return absl::OkStatus();
}

absl::StatusOr<PostgresRows> PostgresSession::Execute(std::string_view name, const Parameters& parameters,
                                                      std::optional<absl::Duration> timeout) {
  HYDRANT_RETURN_IF_ERROR(Annotate(parameters.status(), name));
  if (lost()) return Lose(name, "the connection is lost");
  const absl::Time begin = absl::Now();
  if (!statements_.contains(AbslView(name))) {
    return absl::InternalError(absl::StrCat("no statement is named ", AbslView(name)));
  }
  if (!Send(name, parameters)) return Lose(name, OneLine(PQerrorMessage(connection_.get())));
  HYDRANT_ASSIGN_OR_RETURN(Result result, Receive(name, timeout.value_or(options_.statement_timeout)));
  if (IsError(result.get())) return ErrorOf(name, result.get());
  if (options_.observer) options_.observer(name, absl::ToDoubleSeconds(absl::Now() - begin));
  return PostgresRows(result.release());
}

absl::StatusOr<PostgresRows> PostgresSession::RunScript(std::string_view name, std::string_view text,
                                                        absl::Duration timeout) {
  if (lost()) return Lose(name, "the connection is lost");
  if (PQsendQuery(connection_.get(), std::string(text).c_str()) == 0) {
    return Lose(name, OneLine(PQerrorMessage(connection_.get())));
  }
  HYDRANT_ASSIGN_OR_RETURN(Result result, Receive(name, timeout));
  if (IsError(result.get())) return ErrorOf(name, result.get());
  return PostgresRows(result.release());
}

bool PostgresSession::lost() const { return connection_ == nullptr; }

bool PostgresSession::in_transaction() const {
  return connection_ != nullptr && PQtransactionStatus(connection_.get()) != PQTRANS_IDLE;
}

absl::Status PostgresSession::Lose(std::string_view name, std::string_view why) {
  connection_.reset();
  prepared_.clear();
  return absl::UnavailableError(absl::StrCat(AbslView(name), ": ", AbslView(why)));
}

bool PostgresSession::Send(std::string_view name, const Parameters& parameters) {
  std::vector<const char*> values;
  for (const std::optional<std::string>& value : parameters.values()) {
    values.push_back(value.has_value() ? value->c_str() : nullptr);
  }
  const int count = static_cast<int>(values.size());
  const auto& [key, text] = *statements_.find(AbslView(name));
  if (prepared_.contains(key)) {
    return PQsendQueryPrepared(connection_.get(), key.c_str(), count, values.data(), nullptr, nullptr, 0) !=
           0;
  }
  return PQsendQueryParams(connection_.get(), text.c_str(), count, nullptr, values.data(), nullptr, nullptr,
                           0) != 0;
}

absl::StatusOr<PostgresSession::Result> PostgresSession::Receive(std::string_view name,
                                                                 absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  Result last;
  while (true) {
    HYDRANT_RETURN_IF_ERROR(AwaitAnswer(name, deadline, timeout));
    Result result(PQgetResult(connection_.get()));
    if (result == nullptr) break;
    if (last == nullptr || !IsError(last.get())) last = std::move(result);
  }
  if (PQstatus(connection_.get()) != CONNECTION_OK || last == nullptr) {
    return Lose(name, last != nullptr ? OneLine(PQresultErrorMessage(last.get()))
                                      : OneLine(PQerrorMessage(connection_.get())));
  }
  return last;
}

// Until the next result is there, or the end of results: sends what is not yet sent, reads what comes.
absl::Status PostgresSession::AwaitAnswer(std::string_view name, absl::Time deadline,
                                          absl::Duration timeout) {
  PGconn* connection = connection_.get();
  while (true) {
    const int unsent = PQflush(connection);
    if (unsent < 0) return Lose(name, OneLine(PQerrorMessage(connection)));
    if (unsent == 0 && PQisBusy(connection) == 0) return absl::OkStatus();
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) {
      return Lose(name, absl::StrCat("no answer from PostgreSQL within ", absl::FormatDuration(timeout)));
    }
    pollfd socket{PQsocket(connection), static_cast<short>(POLLIN | (unsent == 1 ? POLLOUT : 0)), 0};
    const int milliseconds =
        static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1))));
    if (poll(&socket, 1, milliseconds) < 0 && errno != EINTR) return Lose(name, "poll failed");
    if ((socket.revents & (POLLIN | POLLERR | POLLHUP)) != 0 && PQconsumeInput(connection) == 0) {
      return Lose(name, OneLine(PQerrorMessage(connection)));
    }
  }
}

}  // namespace hydrant
