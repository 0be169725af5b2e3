#include "worker/check/sandbox_check_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"

namespace hydrant::worker {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kOutput[] = "/nix/store/00000000000000000000000000000000-it";

// A folder stands in for the store; the parameter is whether the sandbox is a user namespace, as for workers
// without root.
class SandboxCheckRunnerTest : public testing::TestWithParam<bool> {
 protected:
  SandboxCheckRunnerTest() {
    const std::string output = dir_ / "store/00000000000000000000000000000000-it";
    EXPECT_TRUE(MakeDirectories(output + "/bin").ok());
    EXPECT_TRUE(MakeDirectories(dir_ / "scratch").ok());
    EXPECT_TRUE(WriteFileAtomically(output + "/bin/hello", "#!/bin/sh\necho hello from $0\n", 0755).ok());
    for (const char* folder : {"", "/store", "/scratch"}) chmod((dir_.path() + folder).c_str(), 0755);
  }

  CheckOutcome RunCommand(std::vector<std::string> command) {
    request_.command = std::move(command);
    SandboxCheckRunner runner({.store_folder = dir_ / "store",
                               .sandbox_paths = {DefaultSandboxShell()},
                               .scratch = dir_ / "scratch",
                               .grace = absl::Milliseconds(200),
                               .user_namespace = GetParam()},
                              gpus_);
    return runner.Run(
        request_,
        [this](std::string_view text) {
          log_.append(text);
          if (cancel_on_log_) cancellation_.Cancel();
        },
        cancellation_);
  }
  CheckOutcome RunShell(const std::string& script) { return RunCommand({"/bin/sh", "-c", script}); }

  TestDir dir_;
  SimulatedGpuAccess gpus_;
  CheckRequest request_{.name = "smoke", .output_path = kOutput};
  Cancellation cancellation_;
  bool cancel_on_log_ = false;
  std::string log_;
};

TEST_P(SandboxCheckRunnerTest, ACommandOfTheOutputPasses) {
  const CheckOutcome outcome = RunCommand({"hello"});
  EXPECT_EQ(outcome.cause, Cause::kNone) << outcome.message << log_;
  EXPECT_EQ(log_, absl::StrCat("hello from ", kOutput, "/bin/hello\n"));
  EXPECT_EQ(outcome.log_bytes, static_cast<int64_t>(log_.size()));
}

TEST_P(SandboxCheckRunnerTest, TheEnvironmentIsWhatIsPromisedAndNoMore) {
  setenv("HYDRANT_TOKEN", "secret", 1);
  EXPECT_EQ(RunShell("env").cause, Cause::kNone);
  EXPECT_THAT(log_, HasSubstr(absl::StrCat("HYDRANT_OUT=", kOutput, "\n")));
  EXPECT_THAT(log_, HasSubstr("HYDRANT_CHECK=smoke\n"));
  EXPECT_THAT(log_, HasSubstr("CUDA_VISIBLE_DEVICES=\n"));
  EXPECT_THAT(log_, HasSubstr(absl::StrCat("PATH=", kOutput, "/bin:")));
  EXPECT_THAT(log_, Not(HasSubstr("HYDRANT_GPU")));
  EXPECT_THAT(log_, Not(HasSubstr("secret")));
}

TEST_P(SandboxCheckRunnerTest, ASimulatedGpuSaysSo) {
  request_.gpu = GpuFacts{.uuid = "simulated-0", .architecture = "8.6", .simulated = true};
  EXPECT_EQ(RunShell("env").cause, Cause::kNone);
  EXPECT_THAT(log_, HasSubstr("HYDRANT_GPU_SIMULATED=1\n"));
  EXPECT_THAT(log_, HasSubstr("HYDRANT_GPU_ARCHITECTURE=8.6\n"));
  EXPECT_THAT(log_, HasSubstr("CUDA_VISIBLE_DEVICES=simulated-0\n"));
}

TEST_P(SandboxCheckRunnerTest, AGpuWithoutAccessIsNoPass) {
  request_.gpu = GpuFacts{.uuid = "GPU-1", .architecture = "8.6"};
  EXPECT_EQ(RunShell("exit 0").cause, Cause::kTransient);
}

TEST_P(SandboxCheckRunnerTest, SeesNothingOfTheMachine) {
  EXPECT_EQ(
      RunShell("ls / /dev; cat /etc/passwd; ls " + dir_.path() + "; ls /proc | grep -c '^[0-9]'; true").cause,
      Cause::kNone);
  EXPECT_THAT(log_, HasSubstr("'/etc/passwd': No such file"));
  EXPECT_THAT(log_, HasSubstr(absl::StrCat("ls: ", dir_.path(), ": No such file")));
  EXPECT_THAT(log_, Not(HasSubstr("sda")));
  EXPECT_THAT(log_, Not(HasSubstr("kmsg")));
  EXPECT_THAT(log_, testing::AnyOf(HasSubstr("\n4\n"), HasSubstr("\n5\n"), HasSubstr("\n3\n")));
}

TEST_P(SandboxCheckRunnerTest, CannotWriteTheStoreOrTheRoot) {
  const CheckOutcome outcome = RunShell(
      "for f in $HYDRANT_OUT/x /nix/store/x /x /dev/x; do echo > $f && echo WROTE $f; done;"
      "mount -o remount,rw /nix/store && echo MOUNTED; true");
  EXPECT_EQ(outcome.cause, Cause::kNone);
  EXPECT_THAT(log_, Not(testing::AnyOf(HasSubstr("WROTE"), HasSubstr("MOUNTED"))));
  EXPECT_FALSE(FileExists(dir_ / "store/x"));
}

TEST_P(SandboxCheckRunnerTest, MayWriteTemporaryFilesWhichAreGoneAfter) {
  EXPECT_EQ(RunShell("echo > here && echo > /tmp/there && echo > /dev/shm/it && echo > /dev/null").cause,
            Cause::kNone)
      << log_;
  EXPECT_EQ(RunShell("test ! -e here").cause, Cause::kNone);
  EXPECT_EQ(rmdir((dir_ / "scratch").c_str()), 0) << "something is left";
}

TEST_P(SandboxCheckRunnerTest, HasLoopbackAndNoOtherNetwork) {
  EXPECT_EQ(RunShell("cat /proc/net/dev | grep -v lo: | grep : ; ifconfig lo | grep UP").cause, Cause::kNone)
      << log_;
  EXPECT_THAT(log_, Not(HasSubstr("eth")));
}

TEST_P(SandboxCheckRunnerTest, IsNobodyWithoutRights) {
  EXPECT_EQ(RunShell("id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status").cause, Cause::kNone);
  EXPECT_THAT(log_, HasSubstr(GetParam() ? "1000\n" : "65534\n"));
  EXPECT_THAT(log_, HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(log_, HasSubstr("NoNewPrivs:\t1"));
}

TEST_P(SandboxCheckRunnerTest, AFailureIsClassified) {
  const CheckOutcome plain = RunShell("echo boo >&2; exit 7");
  EXPECT_EQ(plain.cause, Cause::kWrongResult);
  EXPECT_EQ(log_, "boo\n");
  EXPECT_FALSE(plain.message.empty());
  const CheckOutcome kernel =
      RunShell("echo 'CUDA error: no kernel image is available for execution on the device'; exit 1");
  EXPECT_EQ(kernel.cause, Cause::kNoKernelImage) << kernel.message;
}

TEST_P(SandboxCheckRunnerTest, ADeathBySignalFails) {
  const CheckOutcome outcome = RunShell("kill -SEGV $$");
  EXPECT_EQ(outcome.cause, Cause::kWrongResult);
  EXPECT_THAT(outcome.message, HasSubstr("signal 11"));
}

TEST_P(SandboxCheckRunnerTest, ACommandThatIsNotThereIsNamed) {
  const CheckOutcome outcome = RunCommand({"python3"});
  EXPECT_EQ(outcome.cause, Cause::kCheckFailed);
  EXPECT_THAT(outcome.message, HasSubstr("python3"));
  EXPECT_THAT(outcome.message, HasSubstr(kOutput));
}

TEST_P(SandboxCheckRunnerTest, OverItsTimeItEndsEvenWhenItIgnoresSigterm) {
  request_.limits.timeout = absl::Milliseconds(300);
  EXPECT_EQ(RunShell("trap '' TERM; while :; do :; done").cause, Cause::kTimeout);
}

TEST_P(SandboxCheckRunnerTest, OverItsTimeSigtermComesFirst) {
  request_.limits.timeout = absl::Milliseconds(300);
  EXPECT_EQ(RunShell("trap 'echo goodbye; exit 0' TERM; while :; do :; done").cause, Cause::kTimeout);
  EXPECT_EQ(log_, "goodbye\n");
}

TEST_P(SandboxCheckRunnerTest, NoProcessSurvives) {
  const std::string mark = absl::StrCat("mark-", getpid(), "-of-check");
  EXPECT_EQ(RunShell("(trap '' TERM HUP; while :; do : " + mark +
                     "; done) & setsid sh -c 'while :; do : " + mark + "; done' & exit 0")
                .cause,
            Cause::kNone);
  const auto seen =
      hydrant::Run({.argv = {"/bin/sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"}});
  EXPECT_THAT(seen->out, Not(HasSubstr(mark)));
}

TEST_P(SandboxCheckRunnerTest, CancellingEndsIt) {
  cancel_on_log_ = true;
  EXPECT_EQ(RunShell("echo started; while :; do :; done").cause, Cause::kCancelled);
}

TEST_P(SandboxCheckRunnerTest, LogAndMemoryHaveLimits) {
  request_.limits = {.max_log_bytes = 1000};
  EXPECT_EQ(RunShell("while :; do echo 0123456789; done").cause, Cause::kLogLimit);
  EXPECT_LE(log_.size(), 1000u);
  request_.limits = {.memory_bytes = 32 << 20};
  EXPECT_EQ(
      RunShell(
          "x=01234567; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do x=$x$x; done;"
          "while :; do :; done")
          .cause,
      Cause::kOutOfMemory);
}

INSTANTIATE_TEST_SUITE_P(AsRoot, SandboxCheckRunnerTest, testing::Values(false),
                         [](const auto&) { return "Root"; });
INSTANTIATE_TEST_SUITE_P(InUserNamespace, SandboxCheckRunnerTest, testing::Values(true),
                         [](const auto&) { return "User"; });

}  // namespace
}  // namespace hydrant::worker
