// What only the real store does: elections, lost connections, a server that dies or hangs.
#include "daemon/record/postgres_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/record/postgres_processes.h"
#include "lib/base/test_dir.h"
#include "tests/conformance/describe_records.h"
#include "tests/conformance/sample_records.h"
#include "tests/conformance/test_postgres.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Runs `text` beside the store and gives the first value of its first row.
int64_t Ask(const std::string& url, const std::string& text) {
  const auto session = PostgresSession::Connect({.url = url}).value();
  const auto rows = session->RunScript("ask", text, absl::Seconds(10));
  EXPECT_TRUE(rows.ok()) << rows.status();
  return rows.ok() && rows->size() > 0 ? RowReader(*rows, 0).Int() : 0;
}

// The server's process of the store that holds the lock in the database of `url`.
int64_t BackendOfStore(const std::string& url) {
  return Ask(url,
             "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND "
             "database = (SELECT oid FROM pg_database WHERE datname = current_database())");
}

// Cuts the store's connection as a broken wire would, and waits for the server to have noticed.
void CutConnection(const std::string& url) {
  Ask(url, absl::StrCat("SELECT pg_terminate_backend(", BackendOfStore(url), ", 10000)"));
}

class PostgresStoreTest : public testing::Test {
 protected:
  std::unique_ptr<PostgresStore> Open() {
    return PostgresStore::Open({.url = url_, .statement_timeout = timeout_, .observer = observer_}).value();
  }
  std::unique_ptr<PostgresStore> OpenLoaded() {
    auto store = Open();
    const auto recorded = store->Load();
    EXPECT_TRUE(recorded.ok()) << recorded.status();
    return store;
  }
  // Once the server is back, as the coordinator asks again and again.
  static Recorded LoadWhenItCan(StateStore& store) {
    absl::StatusOr<Recorded> recorded = store.Load();
    while (absl::IsUnavailable(recorded.status())) recorded = store.Load();
    EXPECT_TRUE(recorded.ok()) << recorded.status();
    return recorded.value_or(Recorded{});
  }

  std::string url_ = FreshDatabase();
  absl::Duration timeout_ = absl::Seconds(30);
  std::function<void(std::string_view, double)> observer_;
  SampleFarm farm_;
};

TEST_F(PostgresStoreTest, TellsEachStatementsNameAndSeconds) {
  std::multiset<std::string> names;
  observer_ = [&](std::string_view name, double seconds) {
    EXPECT_GE(seconds, 0);
    names.emplace(name);
  };
  const auto store = OpenLoaded();
  names.clear();
  ASSERT_TRUE(store->Commit({SaveWorker{farm_.worker}}).ok());
  EXPECT_THAT(names, testing::UnorderedElementsAre("begin", "save_worker", "drop_worker_gpus",
                                                   "save_worker_gpus", "commit"));
}

TEST_F(PostgresStoreTest, SaysWhoTheActiveHydrantdIs) {
  const auto first = OpenLoaded();
  const auto second = Open();
  EXPECT_THAT(second->Load().status().message(),
              HasSubstr(absl::StrCat("another hydrantd is active (pid ", getpid(), " on ")));
}

TEST_F(PostgresStoreTest, ADeadHydrantdsConnectionIsWaitedForAndALivingOnesIsNot) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  const std::string here = std::string(host.data()).substr(0, 24);
  const auto load_beside = [&](const std::string& holder) {
    const auto session = PostgresSession::Connect({.url = url_, .application_name = holder}).value();
    while (!RowReader(session->Execute("take_lock").value(), 0).Bool()) {
    }
    return Open()->Load().status();
  };
  const absl::Status dead = load_beside(absl::StrCat("hydrantd 99999999 ", here, " 0"));
  EXPECT_TRUE(absl::IsUnavailable(dead)) << dead;
  EXPECT_THAT(dead.message(), HasSubstr("still ending the connection of hydrantd 99999999"));
  EXPECT_TRUE(absl::IsFailedPrecondition(load_beside("hydrantd 99999999 elsewhere 0")));
  EXPECT_TRUE(absl::IsFailedPrecondition(load_beside("psql")));
}

TEST_F(PostgresStoreTest, AnIdleConnectionThatWasLostIsMadeAnew) {
  const auto store = OpenLoaded();
  ASSERT_TRUE(store->Commit(farm_.batch).ok());
  CutConnection(url_);
  const absl::Status status =
      store->Commit({MoveSteps{{{farm_.b.path, StepState::kBlocked, StepState::kReady, {}}}}});
  EXPECT_TRUE(status.ok()) << status;
  CutConnection(url_);
  EXPECT_TRUE(store->FindAttempt({1}).ok());
  CutConnection(url_);
  const auto recorded = store->Load();
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_EQ(recorded->steps[1].state, StepState::kReady);
}

TEST_F(PostgresStoreTest, AConnectionLostBeforeTheCommitRecordsNothing) {
  bool armed = true;
  observer_ = [&](std::string_view name, double) {
    if (name == "create_steps" && std::exchange(armed, false)) CutConnection(url_);
  };
  const auto store = OpenLoaded();
  const absl::Status status = store->Commit(farm_.batch);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_FALSE(IsUnknownCommit(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("nothing recorded"));
  EXPECT_EQ(Describe(store->Load().value()), Describe(Recorded{}));
  EXPECT_TRUE(store->Commit(farm_.batch).ok());
}

TEST_F(PostgresStoreTest, IsDeposedForEverByAnotherThatIsActive) {
  const auto first = OpenLoaded();
  CutConnection(url_);
  const auto second = OpenLoaded();
  const absl::Status status = first->Commit({SaveWorker{farm_.worker}});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("another hydrantd is active"));
  EXPECT_TRUE(absl::IsFailedPrecondition(first->Load().status()));
}

TEST_F(PostgresStoreTest, IsDeposedByAnotherThatCameAndWent) {
  const auto first = OpenLoaded();
  CutConnection(url_);
  OpenLoaded().reset();
  const absl::Status status = first->Commit({SaveWorker{farm_.worker}});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("another hydrantd was active since"));
  EXPECT_TRUE(absl::IsFailedPrecondition(first->FindAttempt({1}).status()));
  EXPECT_TRUE(OpenLoaded()->Commit({SaveWorker{farm_.worker}}).ok());
}

TEST_F(PostgresStoreTest, AServerThatHangsBeforeTheCommitRecordsNothing) {
  timeout_ = absl::Milliseconds(500);
  pid_t backend = 0;
  observer_ = [&](std::string_view name, double) {
    if (name == "save_matrix" && backend != 0) kill(backend, SIGSTOP);
  };
  const auto store = OpenLoaded();
  backend = static_cast<pid_t>(BackendOfStore(url_));
  const absl::Status status = store->Commit(farm_.batch);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_FALSE(IsUnknownCommit(status));
  EXPECT_THAT(status.message(), HasSubstr("no answer from PostgreSQL within 500ms"));
  // The server still holds our lock: that is no other hydrantd.
  EXPECT_TRUE(absl::IsUnavailable(store->Load().status()));
  kill(std::exchange(backend, 0), SIGCONT);
  EXPECT_EQ(Describe(LoadWhenItCan(*store)), Describe(Recorded{}));
}

TEST_F(PostgresStoreTest, AServerThatHangsInTheCommitLeavesItUnknown) {
  timeout_ = absl::Milliseconds(500);
  pid_t backend = 0;
  observer_ = [&](std::string_view name, double) {
    if (name == "create_channel" && backend != 0) kill(backend, SIGSTOP);  // the last statement of the batch
  };
  const auto store = OpenLoaded();
  backend = static_cast<pid_t>(BackendOfStore(url_));
  const absl::Status status = store->Commit(farm_.batch);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(IsUnknownCommit(status)) << status;
  kill(std::exchange(backend, 0), SIGCONT);
  const std::string recorded = Describe(LoadWhenItCan(*store));
  EXPECT_THAT(recorded, testing::AnyOf(Describe(Recorded{}), Describe(farm_.recorded)));
}

TEST_F(PostgresStoreTest, ARetiredPathIsStagedAgain) {
  const auto store = OpenLoaded();
  ASSERT_TRUE(store->Commit(farm_.batch).ok());
  Ask(url_, "UPDATE narinfo SET state = 'retired'");
  EXPECT_THAT(store->Load()->narinfos, IsEmpty());
  NarInfoRecord again = farm_.info;
  again.nar_hash = "other";
  ASSERT_TRUE(store->Commit({StageNarInfo{again}}).ok());
  const auto recorded = store->Load();
  ASSERT_THAT(recorded->narinfos, SizeIs(1));
  EXPECT_EQ(recorded->narinfos[0].nar_hash, "other");
}

// With a server of the test's own, which it kills.
class PostgresDeathTest : public PostgresStoreTest {
 protected:
  void SetUp() override {
    auto started = EmbeddedPostgres::Start({.folder = folder_ / "postgres", .durable = false});
    ASSERT_TRUE(started.ok()) << started.status();
    cluster_ = *std::move(started);
    url_ = cluster_->Url();
  }
  void TearDown() override {
    if (cluster_ == nullptr) return;
    EXPECT_TRUE(cluster_->Stop().ok());
  }
  void KillServer() const {
    for (const pid_t pid : ProcessesIn(folder_ / "postgres/data")) kill(pid, SIGKILL);
  }

  TestDir folder_;
  std::unique_ptr<EmbeddedPostgres> cluster_;
};

TEST_F(PostgresDeathTest, WhatWasOkIsThereAfterTheServersDeath) {
  const auto store = OpenLoaded();
  ASSERT_TRUE(store->Commit(farm_.batch).ok());
  KillServer();
  EXPECT_EQ(Describe(LoadWhenItCan(*store)), Describe(farm_.recorded));
  ASSERT_TRUE(store->Commit({MoveSteps{{{farm_.b.path, StepState::kBlocked, StepState::kReady, {}}}}}).ok());
  KillServer();
  EXPECT_EQ(LoadWhenItCan(*store).steps[1].state, StepState::kReady);
}

TEST_F(PostgresDeathTest, TheServersDeathAtEachStatementLeavesAllOrNothing) {
  std::vector<std::string> statements;
  observer_ = [&](std::string_view name, double) { statements.emplace_back(name); };
  auto store = OpenLoaded();
  statements.clear();
  const Batch batch(farm_.batch.begin(), farm_.batch.begin() + 3);
  ASSERT_TRUE(store->Commit(batch).ok());
  const std::vector<std::string> all = statements;
  ASSERT_EQ(all.back(), "commit");
  for (const std::string& fatal : all) {
    SCOPED_TRACE(fatal);
    ASSERT_TRUE(cluster_->CreateDatabase("at_" + fatal).ok());
    url_ = cluster_->Url("at_" + fatal);
    bool armed = false;
    observer_ = [&](std::string_view name, double) {
      if (name == fatal && std::exchange(armed, false)) KillServer();
    };
    store = OpenLoaded();
    armed = true;
    const absl::Status status = store->Commit(batch);
    const std::string recorded = Describe(LoadWhenItCan(*store));
    if (fatal == "commit") {
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_THAT(recorded, HasSubstr("evaluation #1"));
    } else {
      EXPECT_TRUE(absl::IsUnavailable(status)) << status;
      EXPECT_EQ(recorded, Describe(Recorded{}));
      EXPECT_EQ(IsUnknownCommit(status), fatal == all[all.size() - 2]) << status;
    }
    store.reset();  // before what its observer refers to
  }
}

}  // namespace
}  // namespace hydrant
