// The program itself, as a process, against a hydrantd and a cache in this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"
#include "lib/nix/derivation.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/test_store.h"
#include "worker/lease/fake_hydrantd.h"
#include "worker/push/test_cache.h"

namespace hydrant::worker {
namespace {

using testing::HasSubstr;
using State = FakeHydrantd::State;

class WorkerProgramTest : public testing::Test {
 protected:
  WorkerProgramTest() {
    v1::Farm farm;
    farm.set_cache_url(cache_.url());
    farm.set_staged_public_key(cache_.key().public_key().ToString());
    hydrantd_.SetFarm(farm);
    EXPECT_TRUE(
        WriteFileAtomically(
            dir_ / "worker.toml",
            absl::StrCat("name = \"w1\"\nserver = \"", hydrantd_.address(), "\"\nspool = \"", dir_ / "spool",
                         "\"\n[nix]\nstore = \"", dir_ / "store",
                         "\"\n[offer]\nslots = 2\n[[gpu]]\narchitecture = \"8.6\"\nsimulated = true\n"))
            .ok());
  }

  Subprocess::Options Command(std::vector<std::string> more = {}) {
    Subprocess::Options options{.argv = {HYDRANT_BIN_DIR "/hydrant-worker", "--config", dir_ / "worker.toml"},
                                .env = {{"HYDRANT_TOKEN", "secret"}}};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    return options;
  }
  std::unique_ptr<Subprocess> Start(std::vector<std::string> more = {}) {
    return *Subprocess::Start(Command(std::move(more)));
  }

  // A step whose builder is a line of shell; `needs`: paths that its text names.
  nix::Derivation Assign(int64_t attempt, const std::string& script,
                         const std::vector<std::string>& needs = {}) {
    const std::string path = *evaluator_.Instantiate(absl::StrCat(
        "derivation { name = \"it", attempt,
        "\"; system = builtins.currentSystem; builder = \"/bin/sh\"; args = [ \"-c\" ''", script, "'' ]; }"));
    v1::Assignment assignment;
    assignment.set_attempt(attempt);
    assignment.set_token(attempt);
    assignment.mutable_step()->set_derivation_path(path);
    assignment.mutable_step()->set_aterm(*ReadFile(evaluator_.RealPath(path)));
    for (const std::string& one : needs) assignment.mutable_step()->add_input_paths(one);
    const auto derivation = *nix::ParseDerivation(assignment.step().aterm());
    hydrantd_.Assign(std::move(assignment));
    return derivation;
  }
  State WaitForEnd(int64_t attempt) {
    return hydrantd_.WaitUntil([&](const State& state) { return state.ends.contains(attempt); });
  }
  static std::string Out(const nix::Derivation& derivation) { return derivation.outputs.at("out").path; }
  bool Staged(const std::string& path) const {
    return cache_.File(absl::StrCat("/staged/", path.substr(11, 32), ".narinfo")).has_value();
  }

  TestDir dir_;
  nix::TestStore evaluator_;
  FakeHydrantd hydrantd_;
  TestCache cache_;
};

TEST_F(WorkerProgramTest, BuildsPushesChecksAndLeavesWhenIdle) {
  const nix::Derivation first = Assign(1, "echo one; echo made > $out");
  const auto worker = Start({"--once", "--idle", "2s"});
  const State built = WaitForEnd(1);
  EXPECT_EQ(built.ends.at(1)[0].cause(), "") << built.ends.at(1)[0].message();
  EXPECT_EQ(built.logs.at(1), "one\n");
  EXPECT_TRUE(Staged(Out(first)));

  v1::Assignment check;
  check.set_attempt(2);
  check.set_token(2);
  check.set_gpu_uuid("simulated-0");
  check.mutable_check()->set_name("smoke");
  check.mutable_check()->set_output_path(Out(first));
  check.mutable_check()->set_gpu(true);
  for (const char* word : {"/bin/sh", "-c", "cat $HYDRANT_OUT; echo on $HYDRANT_GPU_ARCHITECTURE"})
    check.mutable_check()->add_command(word);
  hydrantd_.Assign(check);
  const State checked = WaitForEnd(2);
  EXPECT_EQ(checked.ends.at(2)[0].cause(), "") << checked.ends.at(2)[0].message();
  EXPECT_EQ(checked.logs.at(2), "made\non 8.6\n");
  EXPECT_TRUE(checked.ends.at(2)[0].gpu().simulated());
  EXPECT_EQ(worker->Wait().code, 0);
}

TEST_F(WorkerProgramTest, SigtermFinishesWhatRuns) {
  const nix::Derivation step = Assign(1, "echo started; sleep 1; echo > $out");
  const auto worker = Start();
  hydrantd_.WaitUntil([](const State& state) { return state.logs.contains(1); });
  worker->Signal(SIGTERM);
  EXPECT_EQ(worker->Wait().code, 0);
  EXPECT_EQ(hydrantd_.state().ends.at(1)[0].cause(), "");
  EXPECT_TRUE(hydrantd_.state().synchronized.back().leaving());
}

TEST_F(WorkerProgramTest, ASecondSignalGivesBack) {
  Assign(1, "echo started; while :; do sleep 1; done");
  const auto worker = Start();
  hydrantd_.WaitUntil([](const State& state) { return state.logs.contains(1); });
  worker->Signal(SIGTERM);
  hydrantd_.WaitUntil([](const State& state) { return state.synchronized.back().draining(); });
  worker->Signal(SIGTERM);
  EXPECT_EQ(worker->Wait().code, 0);
  EXPECT_EQ(hydrantd_.state().ends.at(1)[0].cause(), "lost");
}

TEST_F(WorkerProgramTest, KilledWhilePushingItPushesWhenStartedAgain) {
  cache_.Order({.method = "PUT", .part = "/nar/", .times = 1000000, .code = 503});
  const nix::Derivation step = Assign(1, "echo built once; echo > $out");
  auto worker = Start();
  hydrantd_.WaitUntil([](const State& state) {
    return state.stages.contains(1) && state.stages.at(1).back() == v1::ATTEMPT_STAGE_PUSHING;
  });
  kill(worker->pid(), SIGKILL);
  worker->Wait();
  cache_.Heal();
  worker = Start();
  const State state = WaitForEnd(1);
  EXPECT_EQ(state.ends.at(1)[0].cause(), "");
  EXPECT_EQ(state.logs.at(1), "built once\n");
  EXPECT_TRUE(Staged(Out(step)));
}

TEST_F(WorkerProgramTest, KilledItLeavesNothingRunning) {
  const std::string mark = absl::StrCat("mark-", getpid(), "-of-worker");
  const std::string busy = absl::StrCat("echo started; while :; do : ", mark, "; done");
  Assign(1, busy);
  v1::Assignment check;
  check.set_attempt(2);
  check.set_token(2);
  check.mutable_check()->set_name("busy");
  for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), busy})
    check.mutable_check()->add_command(word);
  const nix::Derivation output = Assign(3, "echo > $out");
  const auto worker = Start();
  WaitForEnd(3);
  check.mutable_check()->set_output_path(Out(output));
  hydrantd_.Assign(check);
  hydrantd_.WaitUntil([](const State& state) { return state.logs.contains(1) && state.logs.contains(2); });
  kill(worker->pid(), SIGKILL);
  worker->Wait();
  // Nix's daemon needs a moment to see that its client is gone; without it this waits until the test's time
  // is up.
  for (bool runs = true; runs;) {
    runs = hydrant::Run({.argv = {"/bin/sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"}})
               ->out.find(mark) != std::string::npos;
  }
}

TEST_F(WorkerProgramTest, BadUseEndsWithItsOwnStatus) {
  const auto status = [&](std::vector<std::string> more, std::string token = "secret") {
    auto options = Command(std::move(more));
    options.env["HYDRANT_TOKEN"] = token;
    return hydrant::Run(std::move(options));
  };
  EXPECT_EQ(status({"--frobnicate"})->status.code, 2);
  EXPECT_EQ(status({}, "")->status.code, 2);
  EXPECT_EQ(status({"--server", "10.0.0.1:1"})->status.code, 2) << "plaintext off loopback";
  EXPECT_EQ(status({"--version"})->status.code, 0);
  hydrantd_.AnswerWith("Synchronize", 1, {grpc::StatusCode::UNAUTHENTICATED, "unknown token"});
  const auto refused = status({});
  EXPECT_EQ(refused->status.code, 2);
  EXPECT_THAT(refused->err, HasSubstr("token"));
  const auto probe = status({"probe", "--output", "json"}, "");
  EXPECT_EQ(probe->status.code, 0) << probe->err;
  EXPECT_THAT(probe->out, HasSubstr("\"simulated\":true"));
}

}  // namespace
}  // namespace hydrant::worker
