#include "daemon/record/postgres_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

TEST(PostgresProcessesTest, ReadsTheLockFileOfAServerThatListens) {
  const auto file =
      ParsePostmasterFile("24587\n/tmp/c/data\n1796154588\n5432\n/tmp/c\n\n  9995406         4\nready   \n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->pid, 24587);
  EXPECT_EQ(file->socket_folder, "/tmp/c");
}

TEST(PostgresProcessesTest, KnowsAFileThatIsNotWrittenToItsEnd) {
  EXPECT_EQ(ParsePostmasterFile("24587\n/tmp/c/data\n1796154588\n5432\n")->socket_folder, "");
  for (const char* text : {"", "24587", "x\n", "-3\n", "0\n"})
    EXPECT_FALSE(ParsePostmasterFile(text).has_value()) << text;
}

TEST(PostgresProcessesTest, ADeadProcessThatNobodyReapedDoesNotRun) {
  EXPECT_TRUE(IsRunning(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(IsRunning(child));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(IsRunning(child));
}

TEST(PostgresProcessesTest, FindsWhoWorksInAFolderAndNobodyElse) {
  const TestDir folder;
  const std::string data = std::filesystem::canonical(folder.path()).string();
  EXPECT_FALSE(WorksIn(getpid(), data));
  EXPECT_THAT(ProcessesIn(data), testing::IsEmpty());
  Subprocess::Options options;
  options.argv = {"sleep", "1000"};
  options.directory = data;
  const auto process = Subprocess::Start(std::move(options)).value();
  EXPECT_THAT(ProcessesIn(data), testing::ElementsAre(process->pid()));
  EXPECT_TRUE(WorksIn(process->pid(), data));
}

}  // namespace
}  // namespace hydrant
