#include "daemon/record/postgres_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "daemon/record/postgres_processes.h"
#include "daemon/record/postgres_session.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A cluster as its first start leaves it, made once.
const std::string& Pristine() {
  static const TestDir folder;
  static const std::string made = [] {
    const auto cluster = EmbeddedPostgres::Start({.folder = folder / "postgres", .durable = false});
    EXPECT_TRUE(cluster.ok()) << cluster.status();
    EXPECT_TRUE((*cluster)->Stop().ok());
    return folder / "postgres";
  }();
  return made;
}

class EmbeddedPostgresTest : public testing::Test {
 protected:
  // `folder_` with a cluster that does not run.
  void MakeCluster() {
    Subprocess::Options options;
    options.argv = {"cp", "-a", Pristine(), folder_};
    ASSERT_TRUE(hydrant::Run(std::move(options))->status.ok());
  }
  void TearDown() override {
    if (cluster_ == nullptr) return;
    EXPECT_TRUE(cluster_->Stop().ok());
  }
  absl::Status Start() {
    cluster_.reset();
    auto started = EmbeddedPostgres::Start({.folder = folder_, .durable = false});
    if (started.ok()) cluster_ = *std::move(started);
    return started.status();
  }
  bool Answers() const { return PostgresSession::Connect({.url = cluster_->Url()}).ok(); }

  TestDir above_;
  std::string folder_ = above_ / "postgres";
  std::unique_ptr<EmbeddedPostgres> cluster_;
};

TEST_F(EmbeddedPostgresTest, MakesAPrivateClusterWithADatabaseAndEndsItWell) {
  ASSERT_TRUE(Start().ok());
  EXPECT_TRUE(Answers());
  EXPECT_EQ(ReadPostmasterFile(folder_ + "/data")->pid, cluster_->pid());
  struct stat info {};
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_TRUE(cluster_->Stop().ok());
  EXPECT_THAT(ProcessesIn(folder_ + "/data"), IsEmpty());
  EXPECT_FALSE(FileExists(folder_ + "/data/postmaster.pid"));
  EXPECT_EQ(cluster_->pid(), 0);
  ASSERT_TRUE(Start().ok());
  EXPECT_TRUE(Answers());
}

TEST_F(EmbeddedPostgresTest, TakesOverAServerThatOutlivedItsHydrantd) {
  MakeCluster();
  ASSERT_TRUE(Start().ok());
  const pid_t pid = cluster_->pid();
  ASSERT_TRUE(Start().ok());  // ends the object before, not its server
  EXPECT_EQ(cluster_->pid(), pid);
  EXPECT_TRUE(Answers());
}

TEST_F(EmbeddedPostgresTest, RefusesAFolderThatAnotherHydrantdHas) {
  MakeCluster();
  ASSERT_TRUE(Start().ok());
  const auto second = EmbeddedPostgres::Start({.folder = folder_});
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_THAT(second.status().message(),
              HasSubstr(absl::StrCat("another hydrantd is active (pid ", getpid(), ")")));
  EXPECT_TRUE(Answers());
}

TEST_F(EmbeddedPostgresTest, StartsAgainAServerThatWasKilled) {
  MakeCluster();
  ASSERT_TRUE(Start().ok());
  const pid_t pid = cluster_->pid();
  kill(pid, SIGKILL);
  pid_t next = pid;
  while (next == pid || next == 0) next = cluster_->pid();
  EXPECT_TRUE(Answers());
}

TEST_F(EmbeddedPostgresTest, StartsOverAStaleLockFileWhoseNumberBelongsToAnotherProcess) {
  MakeCluster();
  ASSERT_TRUE(Start().ok());
  cluster_.reset();
  for (const pid_t pid : ProcessesIn(folder_ + "/data")) kill(pid, SIGKILL);
  while (!ProcessesIn(folder_ + "/data").empty()) {
  }
  Subprocess::Options options;
  options.argv = {"sleep", "1000"};
  const auto other = Subprocess::Start(std::move(options)).value();
  std::string text = ReadFile(folder_ + "/data/postmaster.pid").value();
  text.replace(0, text.find('\n'), std::to_string(other->pid()));
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/data/postmaster.pid", text, 0600).ok());
  const absl::Status status = Start();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Answers());
  EXPECT_FALSE(other->WaitFor(absl::ZeroDuration()).has_value());
}

TEST_F(EmbeddedPostgresTest, ListensInAShortFolderWhenItsOwnNameIsTooLongForASocket) {
  folder_ = above_ / std::string(100, 'x');
  MakeCluster();
  ASSERT_TRUE(Start().ok());
  const std::string sockets = cluster_->socket_folder();
  EXPECT_LT(sockets.size(), 40u);
  EXPECT_TRUE(Answers());
  const pid_t pid = cluster_->pid();
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(cluster_->pid(), pid);
  EXPECT_EQ(cluster_->socket_folder(), sockets);
  EXPECT_TRUE(Answers());
  ASSERT_TRUE(cluster_->Stop().ok());
  EXPECT_FALSE(FileExists(sockets));
}

TEST_F(EmbeddedPostgresTest, BearsSpacesAndApostrophesInItsFoldersName) {
  folder_ = above_ / "it's mine";
  MakeCluster();
  const absl::Status status = Start();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Answers());
}

TEST_F(EmbeddedPostgresTest, BeginsAnewAfterAnInterruptedBeginning) {
  ASSERT_TRUE(MakeDirectories(folder_ + "/data.new", 0700).ok());
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/data.new/PG_VERSION", "15\n").ok());
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/lock", "").ok());
  const absl::Status status = Start();
  ASSERT_TRUE(status.ok()) << status;
}

TEST_F(EmbeddedPostgresTest, RefusesAFolderThatHoldsSomethingElse) {
  ASSERT_TRUE(MakeDirectories(folder_ + "/photos").ok());
  const absl::Status status = Start();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("not empty and not a cluster"));
  for (const std::string& name :
       {std::string("relative"), above_ / "a,b", above_ / "$(touch x)", above_ / "a\"b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(EmbeddedPostgres::Start({.folder = name}).status())) << name;
  }
}

TEST_F(EmbeddedPostgresTest, RefusesAClusterOfAVersionThatIsNotInstalled) {
  ASSERT_TRUE(MakeDirectories(folder_ + "/data", 0700).ok());
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/data/PG_VERSION", "9\n").ok());
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/lock", "").ok());
  const absl::Status status = Start();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("the cluster in " + folder_));
  EXPECT_THAT(status.message(), HasSubstr("install the package postgresql-9"));
}

TEST_F(EmbeddedPostgresTest, RunsAsTheUserWhoOwnsTheClusterWhenThatUserReachesIt) {
  const passwd* postgres = getpwnam("postgres");
  if (geteuid() != 0 || postgres == nullptr) GTEST_SKIP() << "needs root and a user postgres";
  MakeCluster();
  ASSERT_EQ(chown(folder_.c_str(), postgres->pw_uid, postgres->pw_gid), 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    ASSERT_EQ(lchown(entry.path().c_str(), postgres->pw_uid, postgres->pw_gid), 0);
  }
  const absl::Status status = Start();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(),
              HasSubstr(absl::StrCat("cannot pass through ", above_.path(), " to reach ", folder_)));
  ASSERT_EQ(chmod(above_.path().c_str(), 0755), 0);
  ASSERT_TRUE(Start().ok());
  EXPECT_TRUE(Answers());
  struct stat info {};
  ASSERT_EQ(stat((folder_ + "/.s.PGSQL.5432").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, postgres->pw_uid);
}

TEST_F(EmbeddedPostgresTest, ShowsTheServersLogWhenItDoesNotStart) {
  MakeCluster();
  const std::string file = folder_ + "/data/postgresql.conf";
  ASSERT_TRUE(WriteFileAtomically(file, ReadFile(file).value() + "\nno_such_setting = 1\n").ok());
  const absl::Status status = Start();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("no_such_setting"));
}

}  // namespace
}  // namespace hydrant
