#include "lib/base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "absl/strings/numbers.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

Subprocess::Options Shell(const std::string& script) { return {.argv = {"sh", "-c", script}}; }

TEST(RunTest, InputGoesInAndBothOutputsComeBack) {
  const auto done = hydrant::Run(Shell("cat; echo oops >&2; exit 3"), "hello");
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->out, "hello");
  EXPECT_EQ(done->err, "oops\n");
  EXPECT_EQ(done->status.ToString(), "exit 3");
}

TEST(RunTest, BigInputThroughASlowPipeIsNotADeadlock) {
  const std::string input(3 << 20, 'x');
  const auto done = hydrant::Run(Shell("cat"), input);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->out, input);
}

TEST(RunTest, InputThatNobodyReadsRaisesNoSigpipe) {
  const auto done = hydrant::Run(Shell("exec <&-; exit 0"), std::string(3 << 20, 'x'));
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->status.ok());
}

TEST(RunTest, OutputBeyondTheBoundIsDroppedButRead) {
  const auto done =
      hydrant::Run(Shell("head -c 1000000 /dev/zero; echo end >&2"), "", absl::InfiniteDuration(), 10);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->out.size(), 10u);
  EXPECT_EQ(done->err, "end\n");
}

TEST(RunTest, WhatIsNotWantedAnyMoreIsKilled) {
  std::atomic<bool> cancelled = false;
  for (const char* script : {"echo begun; sleep 1000 & wait", "exec >&- 2>&-; sleep 1000"}) {
    cancelled = false;
    std::thread waiter([&] {
      const auto done = hydrant::Run(Shell(script), "", absl::InfiniteDuration(), 100, &cancelled);
      EXPECT_EQ(done.status().code(), absl::StatusCode::kCancelled) << script;
    });
    cancelled = true;
    waiter.join();
  }
}

TEST(RunTest, HungProgramIsKilledAtTheTimeout) {
  const auto done = hydrant::Run(Shell("sleep 1000 & wait"), "", absl::Milliseconds(100));
  EXPECT_EQ(done.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(RunTest, GrandchildThatKeepsThePipeDoesNotHoldUs) {
  TestDir dir;
  const auto done = hydrant::Run(Shell("sleep 1000 & echo $!"), "", absl::Seconds(60));
  ASSERT_TRUE(done.ok()) << done.status();
  int grandchild = 0;
  ASSERT_TRUE(absl::SimpleAtoi(done->out, &grandchild));
  kill(grandchild, SIGKILL);
}

TEST(SubprocessTest, AbsentProgramIsNotFound) {
  EXPECT_EQ(Subprocess::Start({.argv = {"no-such-program-here"}}).status().code(),
            absl::StatusCode::kNotFound);
  const absl::Status status = Subprocess::Start({.argv = {"/no/such/program"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/no/such/program"));
}

TEST(SubprocessTest, FileThatIsNoProgramIsNotFound) {
  TestDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "text", "x", 0644).ok());
  EXPECT_EQ(Subprocess::Start({.argv = {dir / "text"}}).status().code(), absl::StatusCode::kNotFound);
}

TEST(SubprocessTest, AbsentFolderIsNamed) {
  auto options = Shell("true");
  options.directory = "/no/such/folder";
  EXPECT_THAT(std::string(Subprocess::Start(options).status().message()), HasSubstr("/no/such/folder"));
}

TEST(SubprocessTest, EnvironmentIsAddedOrReplaces) {
  auto options = Shell("echo $ADDED-$HOME");
  options.env = {{"ADDED", "a b"}, {"HOME", "/h"}};
  EXPECT_EQ(hydrant::Run(options)->out, "a b-/h\n");
  EXPECT_EQ(hydrant::Run({.argv = {"/usr/bin/env"}, .env = {{"ONLY", "1"}}, .clear_env = true})->out,
            "ONLY=1\n");
}

TEST(SubprocessTest, OurDescriptorsAreNotPassedOn) {
  UniqueFd leaky(open("/dev/null", O_RDONLY));
  EXPECT_EQ(hydrant::Run(Shell("ls /proc/self/fd | grep -cv '^[0123]$'"))->out, "0\n");
}

TEST(SubprocessTest, BothOutputsMayBeOneDescriptor) {
  TestDir dir;
  UniqueFd log(open((dir / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  auto options = Shell("echo out; echo err >&2");
  options.stdout_fd = options.stderr_fd = log.get();
  auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok());
  EXPECT_TRUE((*process)->Wait().ok());
  EXPECT_TRUE((*process)->Wait().ok());
  EXPECT_EQ(ReadFile(dir / "log").value(), "out\nerr\n");
}

TEST(SubprocessTest, StopEndsTheWholeGroupEvenWhatIgnoresTerm) {
  auto options = Shell("(trap '' TERM; echo ready; exec sleep 1000) & wait");
  options.pipe_stdout = true;
  auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok());
  char ready[6];
  ASSERT_EQ(read((*process)->stdout_fd().get(), ready, 6), 6);
  const pid_t group = (*process)->pid();
  EXPECT_FALSE((*process)->WaitFor(absl::ZeroDuration()).has_value());
  EXPECT_EQ((*process)->Stop(absl::Seconds(30)).signal, SIGTERM);
  // The pipe's other end closes when the last of the group is gone.
  EXPECT_EQ(read((*process)->stdout_fd().get(), ready, 6), 0);
  (void)group;
}

TEST(SubprocessTest, DestructionKills) {
  UniqueFd out;
  {
    auto options = Shell("echo ready; sleep 1000");
    options.pipe_stdout = true;
    auto process = Subprocess::Start(options);
    ASSERT_TRUE(process.ok());
    out = std::move((*process)->stdout_fd());
    char ready[6];
    ASSERT_EQ(read(out.get(), ready, 6), 6);
  }
  char byte;
  EXPECT_EQ(read(out.get(), &byte, 1), 0);
}

TEST(ExitStatusTest, SignalIsNamed) {
  EXPECT_EQ((ExitStatus{.signal = SIGKILL}).ToString(), "signal 9 (Killed)");
}

}  // namespace
}  // namespace hydrant
