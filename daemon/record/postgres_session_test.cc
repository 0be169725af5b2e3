#include "daemon/record/postgres_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/test_dir.h"
#include "tests/conformance/test_postgres.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PostgresSessionTest, AServerThatIsNotThereIsUnavailable) {
  const TestDir folder;
  const auto session = PostgresSession::Connect({.url = "host=" + folder.path() + " dbname=hydrant"});
  EXPECT_TRUE(absl::IsUnavailable(session.status())) << session.status();
  EXPECT_THAT(session.status().message(), HasSubstr("connect to PostgreSQL: "));
  EXPECT_THAT(session.status().message(), HasSubstr(folder.path()));
}

TEST(PostgresSessionTest, AUrlThatCannotBeReadIsRefusedWithoutItsPassword) {
  const absl::Status status = PostgresSession::CheckUrl("postgresql://me:secret@[host/x");
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("expected postgresql://"));
  EXPECT_THAT(status.message(), Not(HasSubstr("secret")));
  EXPECT_TRUE(PostgresSession::CheckUrl("postgresql:///hydrant").ok());
}

TEST(PostgresSessionTest, ADatabaseThatIsNotThereIsNamed) {
  const auto session = PostgresSession::Connect({.url = TestPostgres().Url("nowhere")});
  EXPECT_THAT(session.status().message(), HasSubstr("\"nowhere\" does not exist"));
}

TEST(PostgresSessionTest, AStatementThatTakesTooLongLosesTheConnection) {
  const auto session = PostgresSession::Connect({.url = TestPostgres().Url()}).value();
  const auto rows = session->RunScript("slow", "SELECT pg_sleep(600)", absl::Milliseconds(50));
  EXPECT_TRUE(absl::IsUnavailable(rows.status())) << rows.status();
  EXPECT_THAT(rows.status().message(), HasSubstr("slow: no answer from PostgreSQL within 50ms"));
  EXPECT_TRUE(session->lost());
  EXPECT_TRUE(absl::IsUnavailable(session->Execute("begin").status()));
}

TEST(PostgresSessionTest, AServerThatIsLostInAStatementIsUnavailable) {
  const auto session = PostgresSession::Connect({.url = TestPostgres().Url()}).value();
  const auto rows =
      session->RunScript("end", "SELECT pg_terminate_backend(pg_backend_pid())", absl::Seconds(5));
  EXPECT_TRUE(absl::IsUnavailable(rows.status())) << rows.status();
  EXPECT_TRUE(session->lost());
}

TEST(PostgresSessionTest, AnUnknownNameIsAnError) {
  const auto session = PostgresSession::Connect({.url = TestPostgres().Url()}).value();
  EXPECT_TRUE(absl::IsInternal(session->Execute("no_such").status()));
  EXPECT_FALSE(session->lost());
}

}  // namespace
}  // namespace hydrant
