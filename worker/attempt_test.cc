#include "worker/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/attempt_threads.h"
#include "worker/build/fake_builder.h"

namespace hydrant::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr char kDerivation[] = "/nix/store/00000000000000000000000000000000-it.drv";
constexpr char kOutput[] = "/nix/store/11111111111111111111111111111111-it";
constexpr char kInput[] = "/nix/store/22222222222222222222222222222222-in";
constexpr char kOther[] = "/nix/store/33333333333333333333333333333333-other.drv";
constexpr char kSource[] = "/nix/store/44444444444444444444444444444444-source.cu";

std::string Aterm() {
  return std::string(R"(Derive([("out",")") + kOutput +
         R"(","","")],[],[],"x86_64-linux","/bin/sh",[],[("out",")" + kOutput + R"(")]))";
}

// Remembers what was moved; fails as told.
class FakeTransfer final : public PathTransfer {
 public:
  absl::Status Fetch(StoreSession&, const CacheAccess& access, const std::vector<std::string>& paths,
                     Cancellation&) override {
    fetched = paths;
    last_access = access;
    return fetch_status;
  }
  absl::StatusOr<PushResult> Push(StoreSession&, const CacheAccess&, const std::vector<std::string>& paths,
                                  Cancellation&) override {
    ++pushes;
    pushed = paths;
    if (!push_status.ok()) return push_status;
    return PushResult{.paths = 1, .bytes = 10};
  }
  absl::Status fetch_status, push_status;
  std::vector<std::string> fetched, pushed;
  CacheAccess last_access;
  int pushes = 0;
};

class FakeChecks final : public CheckRunner {
 public:
  CheckOutcome Run(const CheckRequest& request, const LogCallback& log, Cancellation&) override {
    seen.push_back(request);
    log("checking\n");
    return outcome;
  }
  std::vector<CheckRequest> seen;
  CheckOutcome outcome;
};

// Remembers what was said; Finish answers as told.
class FakeReport final : public AttemptReport {
 public:
  void Enter(AttemptStage stage) override { stages.push_back(stage); }
  void Log(std::string_view bytes) override { log.append(bytes); }
  void Built(const AttemptEnd&) override { ++built; }
  absl::Status Finish(const AttemptEnd& end) override {
    ends.push_back(end);
    if (answers.empty()) return absl::OkStatus();
    const absl::Status answer = answers.front();
    answers.erase(answers.begin());
    return answer;
  }
  absl::StatusOr<std::vector<DerivationFile>> Derivations(const std::vector<std::string>&) override {
    return std::vector<DerivationFile>{{.path = kDerivation, .aterm = Aterm(), .references = {kOther, kSource}}};
  }
  std::vector<AttemptStage> stages;
  std::string log;
  int built = 0;
  std::vector<AttemptEnd> ends;
  std::vector<absl::Status> answers;
};

class AttemptTest : public testing::Test {
 protected:
  AttemptTest() {
    assignment_.attempt = {7};
    assignment_.token = {70};
    assignment_.farm.cache_url = "http://cache";
    assignment_.work = StepWork{.derivation_path = kDerivation, .aterm = Aterm(), .input_paths = {kInput}};
  }
  AttemptEnd Run(std::optional<AttemptEnd> built = std::nullopt) {
    Attempt(tools_, assignment_, report_).Run(std::move(built));
    return report_->ends.back();
  }
  StepWork& step() { return std::get<StepWork>(assignment_.work); }
  void MakeCheck() {
    assignment_.gpu_uuid = "simulated-0";
    assignment_.work = CheckWork{.name = "smoke",
                                 .output_path = kOutput,
                                 .environment_path = kInput,
                                 .command = {"true"},
                                 .gpu = true};
  }

  const WorkerStore store_{{}};
  FakeBuilder builder_;
  FakeTransfer transfer_;
  FakeChecks checks_;
  GpuClaims gpus_{{{.uuid = "simulated-0", .architecture = "8.6", .simulated = true}}};
  NoObserver observer_;
  SystemClock clock_;
  absl::Status open_status_;
  AttemptTools tools_{
      .open_session = [this](const AttemptLimits&) -> absl::StatusOr<std::unique_ptr<StoreSession>> {
        if (!open_status_.ok()) return open_status_;
        return std::make_unique<StoreSession>(store_, nullptr);
      },
      .builder = builder_,
      .transfer = transfer_,
      .checks = checks_,
      .gpus = gpus_,
      .observer = observer_,
      .clock = clock_,
      .token = "secret"};
  Assignment assignment_;
  const std::shared_ptr<FakeReport> report_ = std::make_shared<FakeReport>();
};

TEST_F(AttemptTest, FetchesBuildsPushesAndSaysSo) {
  builder_.Plan(kDerivation, {.log = "hello\n"});
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, Cause::kNone) << end.message;
  EXPECT_THAT(report_->stages,
              ElementsAre(AttemptStage::kFetching, AttemptStage::kBuilding, AttemptStage::kPushing));
  EXPECT_THAT(transfer_.fetched, ElementsAre(kInput));
  EXPECT_THAT(transfer_.pushed, ElementsAre(kOutput));
  EXPECT_EQ(transfer_.last_access.lease_token, "70");
  EXPECT_EQ(transfer_.last_access.attempt_id, "7");
  EXPECT_EQ(report_->log, "hello\n");
  EXPECT_EQ(report_->built, 1);
  EXPECT_EQ(end.log_bytes, 6);
}

TEST_F(AttemptTest, AnInputThatCannotBeHadEndsItBeforeTheBuild) {
  transfer_.fetch_status = absl::NotFoundError("fetch /nix/store/in: http://cache answered 404");
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, Cause::kFetchFailed);
  EXPECT_THAT(end.message, HasSubstr("http://cache"));
  EXPECT_TRUE(builder_.built().empty());
}

TEST_F(AttemptTest, AFailedBuildIsNotPushed) {
  builder_.Plan(kDerivation,
                {.outcome = {.cause = Cause::kBuilderFailed, .message = "exit 3", .nix_status = 3}});
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, Cause::kBuilderFailed);
  EXPECT_EQ(end.nix_status, 3);
  EXPECT_EQ(transfer_.pushes, 0);
  EXPECT_EQ(report_->built, 0);
}

TEST_F(AttemptTest, AFailedUploadIsNeverABuildFailure) {
  transfer_.push_status = absl::FailedPreconditionError("push x: 409");
  EXPECT_EQ(Run().cause, Cause::kUploadFailed);
}

TEST_F(AttemptTest, WhatIsThereIsPushedWithoutFetchOrBuild) {
  Run();
  transfer_.fetched.clear();
  report_->stages.clear();
  EXPECT_EQ(Run().cause, Cause::kNone);
  EXPECT_EQ(builder_.built().size(), 1u);
  EXPECT_TRUE(transfer_.fetched.empty());
  EXPECT_EQ(transfer_.pushes, 2);
}

TEST_F(AttemptTest, TheDerivationClosureComesFirstWhenItIsNeeded) {
  step().needs_derivation_closure = true;
  EXPECT_EQ(Run().cause, Cause::kNone);
  EXPECT_THAT(builder_.added(), ElementsAre(kDerivation));
  // With the sources that the .drv files refer to, but not with .drv files: those were given.
  EXPECT_THAT(transfer_.fetched, UnorderedElementsAre(kInput, kSource));
}

TEST_F(AttemptTest, WhatHydrantdMissesIsPushedAgain) {
  report_->answers = {absl::FailedPreconditionError("missing"), absl::OkStatus()};
  EXPECT_EQ(Run().cause, Cause::kNone);
  EXPECT_EQ(transfer_.pushes, 2);
}

TEST_F(AttemptTest, WhatHydrantdMissesForEverIsAnUploadFailure) {
  report_->answers = std::vector<absl::Status>(3, absl::FailedPreconditionError("missing /nix/store/x"));
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, Cause::kUploadFailed);
  EXPECT_THAT(end.message, HasSubstr("missing /nix/store/x"));
}

TEST_F(AttemptTest, AResumedAttemptOnlyPushes) {
  EXPECT_EQ(Run(AttemptEnd{.max_memory_bytes = 5}).max_memory_bytes, 5);
  EXPECT_TRUE(builder_.built().empty());
  EXPECT_EQ(transfer_.pushes, 1);
}

TEST_F(AttemptTest, AResumedFailureIsOnlySaid) {
  EXPECT_EQ(Run(AttemptEnd{.cause = Cause::kBuilderFailed}).cause, Cause::kBuilderFailed);
  EXPECT_EQ(transfer_.pushes, 0);
}

TEST_F(AttemptTest, AStoreThatCannotBeOpenedIsTheWorkersTrouble) {
  open_status_ = absl::UnavailableError("no daemon");
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, Cause::kTransient);
  EXPECT_THAT(end.message, HasSubstr("no daemon"));
}

TEST_F(AttemptTest, GarbageForADerivationIsRefused) {
  step().aterm = "Derive(";
  EXPECT_EQ(Run().cause, Cause::kTransient);
  EXPECT_TRUE(builder_.built().empty());
}

TEST_F(AttemptTest, AttemptsStopEachForItsReason) {
  builder_.Plan(kDerivation, {.log = "x", .until_cancelled = true});
  for (const auto& [reason, cause] : {std::pair(StopReason::kGivenBack, Cause::kLost),
                                      std::pair(StopReason::kLogLimit, Cause::kLogLimit)}) {
    AttemptThreads attempts(tools_);
    attempts.Start(assignment_, std::nullopt, report_);
    attempts.Stop({99}, reason);
    attempts.Stop(assignment_.attempt, reason);
    attempts.Join();
    EXPECT_EQ(report_->ends.back().cause, cause);
  }
}

TEST_F(AttemptTest, ACheckRunsWithItsGpu) {
  MakeCheck();
  const AttemptEnd end = Run();
  EXPECT_EQ(end.cause, Cause::kNone);
  EXPECT_TRUE(end.gpu->simulated);
  EXPECT_THAT(transfer_.fetched, ElementsAre(kOutput, kInput));
  EXPECT_EQ(checks_.seen.at(0).gpu->uuid, "simulated-0");
  EXPECT_THAT(report_->stages, ElementsAre(AttemptStage::kFetching, AttemptStage::kBuilding));
  EXPECT_EQ(transfer_.pushes, 0);
}

TEST_F(AttemptTest, ACheckOnAGpuThatIsNotHereIsNotRun) {
  MakeCheck();
  assignment_.gpu_uuid = "GPU-1";
  EXPECT_EQ(Run().cause, Cause::kTransient);
  EXPECT_TRUE(checks_.seen.empty());
}

TEST_F(AttemptTest, ACheckThatFailsSaysItsClass) {
  MakeCheck();
  checks_.outcome = {.cause = Cause::kCpuFallback, .message = "falling back to cpu"};
  EXPECT_EQ(Run().cause, Cause::kCpuFallback);
}

TEST_F(AttemptTest, AResumedCheckIsNotRunAgain) {
  MakeCheck();
  Run(AttemptEnd{});
  EXPECT_TRUE(checks_.seen.empty());
}

}  // namespace
}  // namespace hydrant::worker
