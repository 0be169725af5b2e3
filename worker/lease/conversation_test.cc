#include "worker/lease/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/test_dir.h"
#include "lib/rpc/channel.h"
#include "worker/lease/fake_hydrantd.h"
#include "worker/lease/fake_runner.h"

namespace hydrant::worker {
namespace {

using testing::ElementsAre;
using State = FakeHydrantd::State;

v1::Assignment Step(int64_t attempt) {
  v1::Assignment assignment;
  assignment.set_attempt(attempt);
  assignment.set_token(attempt * 10);
  assignment.mutable_step()->set_derivation_path("/nix/store/x.drv");
  return assignment;
}

// One run of the worker program against a hydrantd that outlives it.
class Worker {
 public:
  Worker(const FakeHydrantd& hydrantd, const std::string& spool, FakeRunner::Body body,
         Conversation::Options options = {})
      : runner_(std::move(body)),
        client_(*rpc::MakeChannel({.address = hydrantd.address()}), {.name = "w1", .token = "t"}),
        spool_(*AttemptSpool::Open(spool)),
        conversation_(client_, *spool_, runner_, clock_, Fast(std::move(options))),
        thread_([this] { status_ = conversation_.Run(); }) {}
  ~Worker() { (void)Leave(); }

  // Drains and waits; Run's status.
  absl::Status Leave() {
    conversation_.Drain();
    return Wait();
  }
  absl::Status Wait() {
    if (thread_.joinable()) thread_.join();
    runner_.Join();
    return status_;
  }
  Conversation& conversation() { return conversation_; }
  FakeRunner& runner() { return runner_; }

 private:
  static Conversation::Options Fast(Conversation::Options options) {
    options.backoff = {.first = absl::Milliseconds(2), .most = absl::Milliseconds(20)};
    options.log_pause = absl::Milliseconds(1);
    options.offer.slots = 2;
    return options;
  }
  const SystemClock clock_;
  FakeRunner runner_;
  FarmClient client_;
  std::unique_ptr<AttemptSpool> spool_;
  Conversation conversation_;
  absl::Status status_;
  std::thread thread_;
};

void Succeed(const Assignment&, const std::optional<AttemptEnd>&, AttemptReport& report) {
  report.Enter(AttemptStage::kFetching);
  report.Enter(AttemptStage::kBuilding);
  report.Log("building\n");
  report.Log("built\n");
  report.Built({});
  report.Enter(AttemptStage::kPushing);
  EXPECT_TRUE(report.Finish({.log_bytes = 15}).ok());
}

std::function<bool(const State&)> Ended(int64_t attempt) {
  return [attempt](const State& state) { return state.ends.contains(attempt); };
}

bool Holds(const State& state, int attempts) {
  return !state.synchronized.empty() && state.synchronized.back().held_size() == attempts;
}

class ConversationTest : public testing::Test {
 protected:
  FakeHydrantd hydrantd_;
  TestDir dir_;
  const std::string spool_ = dir_ / "attempts";
};

TEST_F(ConversationTest, AnAttemptIsToldInOrder) {
  hydrantd_.Assign(Step(7));
  Worker worker(hydrantd_, spool_, Succeed);
  const State state = hydrantd_.WaitUntil(Ended(7));
  EXPECT_THAT(state.stages.at(7),
              ElementsAre(v1::ATTEMPT_STAGE_FETCHING, v1::ATTEMPT_STAGE_BUILDING, v1::ATTEMPT_STAGE_PUSHING));
  EXPECT_EQ(state.logs.at(7), "building\nbuilt\n");
  EXPECT_EQ(state.ends.at(7).size(), 1u);
  EXPECT_EQ(state.ends.at(7)[0].cause(), "");
  EXPECT_TRUE(worker.Leave().ok());
  EXPECT_TRUE(AttemptSpool::Open(spool_).value()->Load()->empty());
}

TEST_F(ConversationTest, LostAnswersAndRepeatedAssignmentsChangeNothing) {
  for (const char* call : {"Synchronize", "Stage", "Log", "End"}) hydrantd_.LoseAnswers(call, 2);
  hydrantd_.Assign(Step(7));
  Worker worker(hydrantd_, spool_, Succeed);
  hydrantd_.WaitUntil(Ended(7));
  EXPECT_TRUE(worker.Leave().ok());
  EXPECT_EQ(worker.runner().started(7), 1);
  EXPECT_EQ(hydrantd_.state().logs.at(7), "building\nbuilt\n");
}

TEST_F(ConversationTest, WorkGoesOnWhileHydrantdIsAway) {
  Cancellation away;  // told when hydrantd is gone
  hydrantd_.Assign(Step(7));
  Worker worker(hydrantd_, spool_,
                [&](const Assignment& a, const std::optional<AttemptEnd>& b, AttemptReport& report) {
                  away.WaitFor(absl::InfiniteDuration());
                  Succeed(a, b, report);
                });
  hydrantd_.WaitUntil([](const State& state) { return Holds(state, 1); });
  hydrantd_.StopServer();
  away.Cancel();
  hydrantd_.Start();
  EXPECT_EQ(hydrantd_.WaitUntil(Ended(7)).logs.at(7), "building\nbuilt\n");
}

TEST_F(ConversationTest, ABuiltAttemptSurvivesTheProgram) {
  hydrantd_.Assign(Step(7));
  Cancellation away;
  {
    Worker first(hydrantd_, spool_,
                 [&](const Assignment&, const std::optional<AttemptEnd>&, AttemptReport& report) {
                   report.Log("built\n");
                   report.Built({.max_memory_bytes = 5});
                   away.WaitFor(absl::InfiniteDuration());
                   EXPECT_TRUE(absl::IsCancelled(report.Finish({.max_memory_bytes = 5})));
                 },
                 {.give_back_within = absl::ZeroDuration()});
    hydrantd_.WaitUntil([](const State& state) { return Holds(state, 1); });
    hydrantd_.StopServer();
    away.Cancel();
    first.conversation().GiveBack();
    (void)first.Wait();
  }
  hydrantd_.Start();
  Worker second(hydrantd_, spool_,
                [](const Assignment& a, const std::optional<AttemptEnd>& built, AttemptReport& report) {
                  EXPECT_EQ(std::get<StepWork>(a.work).derivation_path, "/nix/store/x.drv");
                  ASSERT_TRUE(built.has_value());
                  EXPECT_TRUE(report.Finish(*built).ok());
                });
  const State state = hydrantd_.WaitUntil(Ended(7));
  EXPECT_EQ(state.ends.at(7)[0].max_memory_bytes(), 5);
  EXPECT_EQ(state.logs.at(7), "built\n");
  // The first word of the new instance names it.
  for (const auto& request : state.synchronized) {
    if (request.instance() == state.synchronized.front().instance()) continue;
    EXPECT_EQ(request.held(0).attempt(), 7);
    break;
  }
}

TEST_F(ConversationTest, WhatWasNotBuiltIsForgottenByTheNextRun) {
  hydrantd_.Assign(Step(7));
  {
    Worker first(hydrantd_, spool_,
                 [](const Assignment&, const std::optional<AttemptEnd>&, AttemptReport& report) {
                   report.Log("began\n");
                   (void)report.Finish({.cause = Cause::kLost});
                 },
                 {.give_back_within = absl::ZeroDuration()});
    hydrantd_.WaitUntil([](const State& state) { return state.logs.contains(7); });
    first.conversation().GiveBack();
    (void)first.Wait();
  }
  EXPECT_TRUE(AttemptSpool::Open(spool_).value()->Load()->empty());
}

TEST_F(ConversationTest, ARevokedAttemptIsStoppedAndSaysNoMore) {
  hydrantd_.Assign(Step(7));
  FakeRunner* runner = nullptr;
  Mutex mu;
  mu.Lock();
  Worker worker(hydrantd_, spool_,
                [&](const Assignment& a, const std::optional<AttemptEnd>&, AttemptReport& report) {
                  MutexLock lock(mu);
                  EXPECT_EQ(runner->WaitForStop(a.attempt), StopReason::kRevoked);
                  EXPECT_TRUE(absl::IsAborted(report.Finish({.cause = Cause::kCancelled})));
                });
  runner = &worker.runner();
  mu.Unlock();
  hydrantd_.WaitUntil([](const State& state) { return Holds(state, 1); });
  hydrantd_.Revoke(7);
  hydrantd_.WaitUntil([](const State& state) { return Holds(state, 0); });
  EXPECT_TRUE(worker.Leave().ok());
  EXPECT_FALSE(hydrantd_.state().ends.contains(7));
}

TEST_F(ConversationTest, ALeaseThatIsLostWhileReportingStopsTheAttempt) {
  hydrantd_.Assign(Step(7));
  hydrantd_.AnswerWith("Stage", 1, {grpc::StatusCode::ABORTED, "older token"});
  Cancellation over;  // told when the attempt is: hydrantd may never hear that it was held
  FakeRunner* runner = nullptr;
  Mutex mu;
  mu.Lock();
  Worker worker(hydrantd_, spool_,
                [&](const Assignment& a, const std::optional<AttemptEnd>&, AttemptReport& report) {
                  MutexLock lock(mu);
                  report.Enter(AttemptStage::kFetching);
                  EXPECT_EQ(runner->WaitForStop(a.attempt), StopReason::kRevoked);
                  EXPECT_TRUE(absl::IsAborted(report.Finish({})));
                  over.Cancel();
                });
  runner = &worker.runner();
  mu.Unlock();
  over.WaitFor(absl::InfiniteDuration());
  EXPECT_TRUE(worker.Leave().ok());
}

TEST_F(ConversationTest, AMissingOutputIsPushedAgain) {
  hydrantd_.Assign(Step(7));
  hydrantd_.AnswerWith("End", 1, {grpc::StatusCode::FAILED_PRECONDITION, "missing /nix/store/x"});
  Worker worker(hydrantd_, spool_,
                [](const Assignment&, const std::optional<AttemptEnd>&, AttemptReport& report) {
                  EXPECT_TRUE(absl::IsFailedPrecondition(report.Finish({})));
                  EXPECT_TRUE(report.Finish({}).ok());
                });
  EXPECT_EQ(hydrantd_.WaitUntil(Ended(7)).ends.at(7).size(), 1u);
}

TEST_F(ConversationTest, TooMuchLogEndsTheAttempt) {
  hydrantd_.Assign(Step(7));
  hydrantd_.AnswerWith("Log", 1, {grpc::StatusCode::RESOURCE_EXHAUSTED, "log limit"});
  FakeRunner* runner = nullptr;
  Mutex mu;
  mu.Lock();
  Worker worker(hydrantd_, spool_,
                [&](const Assignment& a, const std::optional<AttemptEnd>&, AttemptReport& report) {
                  MutexLock lock(mu);
                  report.Log("much\n");
                  EXPECT_EQ(runner->WaitForStop(a.attempt), StopReason::kLogLimit);
                  EXPECT_TRUE(report.Finish({.cause = Cause::kLogLimit}).ok());
                });
  runner = &worker.runner();
  mu.Unlock();
  EXPECT_EQ(hydrantd_.WaitUntil(Ended(7)).ends.at(7)[0].cause(), "log_limit");
}

TEST_F(ConversationTest, AGapInTheLogIsFilled) {
  hydrantd_.Assign(Step(7));
  hydrantd_.AnswerWith("Log", 1, {grpc::StatusCode::OUT_OF_RANGE, "there is a gap: send from 0"});
  Worker worker(hydrantd_, spool_, Succeed);
  EXPECT_EQ(hydrantd_.WaitUntil(Ended(7)).logs.at(7), "building\nbuilt\n");
}

TEST_F(ConversationTest, DrainingFinishesWhatRunsThenLeaves) {
  hydrantd_.Assign(Step(7));
  Cancellation go;
  Worker worker(hydrantd_, spool_,
                [&](const Assignment& a, const std::optional<AttemptEnd>& b, AttemptReport& report) {
                  go.WaitFor(absl::InfiniteDuration());
                  Succeed(a, b, report);
                });
  hydrantd_.WaitUntil([](const State& state) { return Holds(state, 1); });
  worker.conversation().Drain();
  hydrantd_.WaitUntil(
      [](const State& state) { return !state.synchronized.empty() && state.synchronized.back().draining(); });
  go.Cancel();
  EXPECT_TRUE(worker.Wait().ok());
  const State state = hydrantd_.state();
  EXPECT_TRUE(state.ends.contains(7));
  EXPECT_TRUE(state.synchronized.back().leaving());
}

TEST_F(ConversationTest, GivingBackStopsWhatRunsAndSaysLost) {
  hydrantd_.Assign(Step(7));
  FakeRunner* runner = nullptr;
  Mutex mu;
  mu.Lock();
  Worker worker(hydrantd_, spool_,
                [&](const Assignment& a, const std::optional<AttemptEnd>&, AttemptReport& report) {
                  MutexLock lock(mu);
                  EXPECT_EQ(runner->WaitForStop(a.attempt), StopReason::kGivenBack);
                  EXPECT_TRUE(report.Finish({.cause = Cause::kLost}).ok());
                });
  runner = &worker.runner();
  mu.Unlock();
  hydrantd_.WaitUntil([](const State& state) { return Holds(state, 1); });
  worker.conversation().GiveBack();
  EXPECT_TRUE(worker.Wait().ok());
  EXPECT_EQ(hydrantd_.state().ends.at(7)[0].cause(), "lost");
}

TEST_F(ConversationTest, OnceItLeavesWhenIdle) {
  hydrantd_.Assign(Step(7));
  Worker worker(hydrantd_, spool_, Succeed, {.idle = absl::Milliseconds(200)});
  EXPECT_TRUE(worker.Wait().ok());
  EXPECT_TRUE(hydrantd_.state().ends.contains(7));
}

TEST_F(ConversationTest, OnceItGivesUpWhenNobodyAnswers) {
  hydrantd_.StopServer();
  Worker worker(hydrantd_, spool_, Succeed, {.reach_within = absl::Milliseconds(50)});
  EXPECT_TRUE(absl::IsUnavailable(worker.Wait()));
}

TEST_F(ConversationTest, AShortLeaseIsRenewedMoreOften) {
  v1::Assignment step = Step(7);
  step.set_lease_s(1);
  hydrantd_.Assign(step);
  Worker worker(hydrantd_, spool_,
                [&](const Assignment& a, const std::optional<AttemptEnd>& b, AttemptReport& report) {
                  hydrantd_.WaitUntil([](const State& state) { return Holds(state, 1); });
                  Succeed(a, b, report);
                });
  const State state = hydrantd_.WaitUntil([](const State& state) { return Holds(state, 1); });
  EXPECT_LE(state.synchronized.back().hold_ms(), 334);
}

TEST_F(ConversationTest, AWrongTokenIsSaidAtOnce) {
  hydrantd_.AnswerWith("Synchronize", 1, {grpc::StatusCode::UNAUTHENTICATED, "unknown token"});
  EXPECT_TRUE(absl::IsUnauthenticated(Worker(hydrantd_, spool_, Succeed).Wait()));
}

TEST_F(ConversationTest, ARevokedWorkerStops) {
  hydrantd_.AnswerWith("Synchronize", 1, {grpc::StatusCode::PERMISSION_DENIED, "revoked"});
  EXPECT_TRUE(absl::IsPermissionDenied(Worker(hydrantd_, spool_, Succeed).Wait()));
}

TEST_F(ConversationTest, DerivationsComeThoughTheFirstAnswerIsLost) {
  v1::DerivationFile file;
  file.set_path("/nix/store/a.drv");
  file.set_aterm("Derive(…)");
  hydrantd_.AddDerivation(file);
  hydrantd_.AnswerWith("Derivations", 1, {grpc::StatusCode::UNAVAILABLE, "away"});
  hydrantd_.Assign(Step(7));
  Worker worker(hydrantd_, spool_,
                [](const Assignment&, const std::optional<AttemptEnd>&, AttemptReport& report) {
                  const auto files = report.Derivations({});
                  ASSERT_TRUE(files.ok()) << files.status();
                  EXPECT_EQ(files->at(0).path, "/nix/store/a.drv");
                  EXPECT_TRUE(report.Finish({}).ok());
                });
  hydrantd_.WaitUntil(Ended(7));
}

}  // namespace
}  // namespace hydrant::worker
