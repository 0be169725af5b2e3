#include "worker/build/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "lib/base/subprocess.h"

namespace hydrant::worker {
namespace {

std::unique_ptr<Subprocess> StartParentOfSleeper() {
  auto process = Subprocess::Start(
      {.argv = {"/bin/sh", "-c", "sh -c 'echo $$; sleep 1000; true' & wait"}, .pipe_stdout = true});
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

pid_t ReadPid(Subprocess& process) {
  char text[32] = "";
  EXPECT_GT(read(process.stdout_fd().get(), text, sizeof text - 1), 0);
  return atoi(text);
}

TEST(ProcessTree, SeesTheMemoryOfDescendantsAndKeepsTheMost) {
  auto process = StartParentOfSleeper();
  ReadPid(*process);
  ProcessTree tree(process->pid());
  const int64_t sleeper = tree.Sample().memory_bytes;
  EXPECT_GT(sleeper, 0);
  process.reset();
  EXPECT_EQ(tree.Sample().memory_bytes, 0);
  EXPECT_EQ(tree.max_memory_bytes(), sleeper);
}

TEST(ProcessTree, KillsWhoOutlivesTheRoot) {
  const auto process = StartParentOfSleeper();
  const pid_t sleeper = ReadPid(*process);
  ProcessTree tree(process->pid());
  tree.Sample();
  kill(process->pid(), SIGKILL);  // the shell alone
  ASSERT_EQ(kill(sleeper, 0), 0);
  tree.KillSurvivors();
  // It is nobody's child here: its end is seen when its number is free or it is a zombie of another parent.
  for (int i = 0; i < 1000 && ProcessTree(1).Sample().memory_bytes >= 0; ++i) {
    char state = 0;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(sleeper));
    FILE* file = std::fopen(path, "r");
    if (file == nullptr) return;
    const int n = std::fscanf(file, "%*d (%*[^)]) %c", &state);
    std::fclose(file);
    if (n != 1 || state == 'Z' || state == 'X') return;
  }
  ADD_FAILURE() << "process " << sleeper << " lives";
}

TEST(ProcessTree, WithoutARootThereIsNothing) {
  ProcessTree tree(-1);
  EXPECT_EQ(tree.Sample().memory_bytes, 0);
  tree.KillSurvivors();
}

}  // namespace
}  // namespace hydrant::worker
