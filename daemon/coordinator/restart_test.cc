// Kill it at each recorded step and reopen: the outcome is the same, and nothing is built twice.
#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A commit goes wrong; then hydrantd dies, or reads its record again and goes on.
struct Fault {
  CommitFault kind;
  bool dies;
};

// One story, told by a worker and an evaluator that try again, as the real ones do.
class StoryTest : public FarmTest {
 protected:
  static constexpr char kGate[] =
      "[gate]\nrequired = [\"top@*\"]\n[[check]]\nname = \"smoke\"\nfor = \"top@*\"\nenvironment = \"output\"\n"
      "command = [\"run\"]\n";

  // False: hydrantd is dead; nobody says more to it.
  bool Say(const absl::Status& status) {
    const bool unavailable = status.code() == absl::StatusCode::kUnavailable;
    EXPECT_TRUE(status.ok() || unavailable || status.code() == absl::StatusCode::kNotFound) << status;
    return !(dies_ && daemon_->store.fired());
  }
  bool EvaluateSome() {
    auto task = farm().TakeRequested();
    if (!Say(task.status())) return false;
    if (!task.ok() || !task->has_value()) return true;
    const auto insist = [&](const auto& say) {
      absl::Status status;
      for (int tries = 0; tries < 5; ++tries) {
        status = say();
        if (!Say(status)) return false;
        if (status.ok()) return true;
      }
      ADD_FAILURE() << status;
      return false;
    };
    const EvaluationId id = (*task)->id;
    return insist([&] { return farm().SetRevision(id, "r1"); }) &&
           insist([&] { return farm().AddOutcomes(id, Outcomes(**task, (*task)->variants)); }) &&
           insist([&] { return farm().FinishEvaluation(id, absl::OkStatus()); });
  }
  bool Work() {
    worker_.Use(farm());
    auto reply = worker_.TrySync();
    if (!Say(reply.status())) return false;
    for (const auto& [what, assignment] : worker_.held()) {
      if (told_.insert({what, assignment.lease.attempt}).second) ++builds_[what];
      const bool check = assignment.check.has_value();
      const AttemptId attempt = assignment.lease.attempt;
      const auto stage = check ? AttemptStage::kFetching : AttemptStage::kBuilding;
      if (!Say(farm().ReportStage(attempt, assignment.lease.token, stage))) return false;
      if (!check && what != "bad") {
        absl::Status uploaded = Upload(what);
        if (!Say(uploaded)) return false;
        if (!uploaded.ok()) continue;
      }
      if (!Say(worker_.End(what, what == "bad" ? Cause::kBuilderFailed : Cause::kNone))) return false;
    }
    return true;
  }
  bool Round() {
    if (!asked_) {
      auto asked = farm().Trigger({.matrix = "m"});
      if (!Say(asked.status())) return false;
      asked_ = asked.ok() || !farm().Evaluations("m")->empty();
    }
    return EvaluateSome() && Work();
  }
  // The whole of it, with the n-th commit going wrong (0: none); how many commits there were.
  int64_t Tell(int n, Fault fault) {
    database_ = std::make_shared<MemoryDatabase>();
    builds_.clear();
    told_.clear();
    worker_.Forget();
    asked_ = false;
    SetPackages("base\nbad: base\nabove: bad\nleft: base\ntop: left");
    Restart();
    Declare("m", {"top", "above"}, kGate);
    const int64_t before = database_->commits();
    dies_ = fault.dies;
    daemon_->store.FailNth(n, fault.kind);
    bool fired = false;
    for (int round = 0; round < 40; ++round) {
      bool alive = Round();
      clock_.Advance(absl::Seconds(1));
      if (alive) farm().Tick();
      alive = alive && !(dies_ && daemon_->store.fired());
      fired = fired || daemon_->store.fired();
      if (alive) continue;
      dies_ = false;
      Restart();
      asked_ = farm().Matrices()[0].evaluation.has_value();
    }
    EXPECT_EQ(fired, n > 0);
    return database_->commits() - before;
  }
  void ExpectTheSameEnd() {
    EXPECT_EQ(States(), "top:cached above:dependency_failed");
    EXPECT_EQ(StateOfEvaluation(), "settled");
    EXPECT_EQ(ChannelAt(), Newest().id.value);
    for (const char* name : {"base", "left", "top"}) EXPECT_EQ(StateOfPath(name), "published") << name;
    for (const auto& [what, count] : builds_) EXPECT_EQ(count, 1) << what;
    for (const char* name : {"base", "left", "top", "bad"}) {
      EXPECT_EQ(daemon_->memory.Attempts({.derivation = DrvOf(name)}, 9)->size(), 1u) << name;
    }
    EXPECT_THAT(worker_.Held(), IsEmpty());
  }

  TestWorker worker_{"w1", farm()};
  std::map<std::string, int> builds_;
  std::set<std::pair<std::string, AttemptId>> told_;
  bool asked_ = false, dies_ = false;
};

TEST_F(StoryTest, EveryCommitMayGoWrongAndTheEndIsTheSame) {
  const int64_t commits = Tell(0, {});
  ASSERT_NO_FATAL_FAILURE(ExpectTheSameEnd());
  ASSERT_GT(commits, 20);
  for (CommitFault kind : {CommitFault::kUnavailable, CommitFault::kUnknownRecorded, CommitFault::kUnknownLost}) {
    for (bool dies : {false, true}) {
      for (int n = 1; n <= commits; ++n) {
        SCOPED_TRACE(absl::StrCat("commit ", n, " of ", commits, ", fault ", static_cast<int>(kind), dies ? ", dies" : ""));
        Tell(n, {kind, dies});
        ExpectTheSameEnd();
        if (HasFailure()) return;
      }
    }
  }
}

class RestartTest : public FarmTest {};

TEST_F(RestartTest, BeforeTheRecordWasReadNothingIsSaidOfTheFarm) {
  SetPackages("thing");
  Declare("m", {"thing"});
  TestWorker worker("w1", farm());
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  daemon_.reset();
  daemon_ = std::make_unique<Daemon>(database_, clock_, presence_, observer_);
  daemon_->store.SetAway(true);
  EXPECT_EQ(farm().Start().code(), absl::StatusCode::kUnavailable);
  worker.Use(farm());
  const Lease lease = worker.Of("thing").lease;
  EXPECT_EQ(worker.TrySync().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(farm().PendingFor(worker.request()).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(farm().CheckLease(lease.attempt, lease.token).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(farm().MayUpload(lease.attempt, lease.token, "").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(farm().DerivationsOf(lease.attempt, lease.token, {}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(worker.End("thing", Cause::kNone).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(farm().Trigger({.matrix = "m"}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(farm().Ready().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(farm().RecordAnswers());
  daemon_->store.SetAway(false);
  farm().Tick();
  EXPECT_TRUE(farm().Ready().ok());
  EXPECT_THAT(worker.Sync().revoked, IsEmpty());
  EXPECT_EQ(worker.Held(), "thing") << "its lease was adopted";
}

TEST_F(RestartTest, AnotherHydrantdOnTheSameRecordIsAnErrorOfStart) {
  Daemon other(database_, clock_, presence_, observer_);
  EXPECT_EQ(other.coordinator.Start().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RestartTest, WhileTheRecordIsAwayLeasesGoOnAndItsReturnHealsEverything) {
  SetPackages("thing");
  Declare("m", {"thing"});
  TestWorker worker("w1", farm());
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  daemon_->store.SetAway(true);
  for (int i = 0; i < 100; ++i) {
    clock_.Advance(absl::Seconds(1));
    farm().Tick();
    EXPECT_THAT(worker.Sync().revoked, IsEmpty());
  }
  EXPECT_FALSE(farm().RecordAnswers());
  EXPECT_EQ(worker.End("thing", Cause::kNone).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(States(), "thing:building") << "readers do not wait for the record";
  daemon_->store.SetAway(false);
  farm().Tick();
  EXPECT_TRUE(farm().RecordAnswers());
  EXPECT_EQ(farm().Workers()[0].worker.state, WorkerState::kConnected) << "who is connected stays so";
  ASSERT_TRUE(Upload("thing").ok());
  ASSERT_TRUE(worker.End("thing", Cause::kNone).ok());
  EXPECT_EQ(States(), "thing:cached");
}

TEST_F(RestartTest, AnUploadOfUnknownFateIsFoundByTheNextTick) {
  SetPackages("thing");
  Declare("m", {"thing"});
  TestWorker worker("w1", farm());
  worker.Sync();
  TriggerAndEvaluate("m");
  worker.Sync();
  database_->FailNextCommits(1, CommitFault::kUnknownRecorded);
  EXPECT_EQ(Upload("thing").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(StateOfPath("thing"), "absent");
  farm().Tick();
  EXPECT_EQ(StateOfPath("thing"), "staged");
  ASSERT_TRUE(worker.End("thing", Cause::kNone).ok());
  EXPECT_EQ(States(), "thing:cached");
}

TEST_F(RestartTest, AWorkersOfferIsRecordedLaterWhenTheRecordWasAway) {
  TestWorker worker("w1", farm());
  daemon_->store.SetAway(true);
  EXPECT_EQ(worker.TrySync().status().code(), absl::StatusCode::kUnavailable);
  worker.TrySync().status().IgnoreError();
  daemon_->store.SetAway(false);
  farm().Tick();
  Restart();
  ASSERT_EQ(farm().Workers().size(), 1u);
  EXPECT_EQ(farm().Workers()[0].worker.offer, worker.offer());
}

TEST_F(RestartTest, AnInterruptedEvaluationBeginsAgainAndKeepsWhatItKnows) {
  SetPackages("a\nb");
  Declare("m", {"a", "b"});
  const EvaluationId id = Trigger("m");
  auto task = farm().TakeRequested();
  ASSERT_TRUE(farm().SetRevision(id, "r1").ok());
  ASSERT_TRUE(farm().AddOutcomes(id, Outcomes(**task, {0})).ok());
  Restart();
  EXPECT_EQ(StateOfEvaluation(), "requested");
  task = farm().TakeRequested();
  ASSERT_TRUE(task->has_value());
  ASSERT_TRUE(farm().SetRevision(id, "r1").ok());
  EXPECT_EQ(*farm().UnknownVariants(id), std::vector<size_t>{1});
  ASSERT_TRUE(farm().AddOutcomes(id, Outcomes(**task, {1})).ok());
  ASSERT_TRUE(farm().FinishEvaluation(id, absl::OkStatus()).ok());
  EXPECT_EQ(States(), "a:ready b:ready");
}

TEST_F(RestartTest, OutcomesOfAnotherRevisionAreForgotten) {
  SetPackages("a\nb");
  Declare("m", {"a", "b"});
  const EvaluationId id = Trigger("m");
  auto task = farm().TakeRequested();
  ASSERT_TRUE(farm().SetRevision(id, "r1").ok());
  ASSERT_TRUE(farm().AddOutcomes(id, Outcomes(**task, {0})).ok());
  Restart();
  ASSERT_TRUE(farm().TakeRequested().ok());
  ASSERT_TRUE(farm().SetRevision(id, "r2").ok());
  EXPECT_EQ(States(), "a:evaluating b:evaluating");
  EXPECT_EQ(farm().UnknownVariants(id)->size(), 2u);
  Restart();
  EXPECT_EQ(farm().UnknownVariants(id)->size(), 2u) << "and stay so";
  Evaluate();
  EXPECT_EQ(States(), "a:ready b:ready");
}

TEST_F(RestartTest, AReloadDoesNotInterruptTheEvaluationThatRuns) {
  SetPackages("a");
  Declare("m", {"a"});
  const EvaluationId id = Trigger("m");
  auto task = farm().TakeRequested();
  daemon_->store.FailNth(1, CommitFault::kUnknownLost);
  EXPECT_EQ(farm().AddOutcomes(id, Outcomes(**task, {0})).code(), absl::StatusCode::kUnavailable);
  farm().Tick();
  EXPECT_EQ(StateOfEvaluation(), "evaluating");
  ASSERT_TRUE(farm().AddOutcomes(id, Outcomes(**task, {0})).ok());
  ASSERT_TRUE(farm().FinishEvaluation(id, absl::OkStatus()).ok());
  EXPECT_EQ(States(), "a:ready");
}

TEST_F(RestartTest, AStoreWhoseTextNoLongerParsesIsSaidSoByStart) {
  MemoryStore* store = &daemon_->memory;
  const MatrixRecord matrix{.name = "old", .digest = "d", .applied_at = clock_.Now()};
  ASSERT_TRUE(store->Commit({SaveMatrix{matrix, {.digest = "d", .toml = "name = 3", .directory = "/", .file = "old.toml"}}}).ok());
  daemon_.reset();
  daemon_ = std::make_unique<Daemon>(database_, clock_, presence_, observer_);
  const absl::Status started = farm().Start();
  EXPECT_THAT(std::string(started.message()), HasSubstr("the recorded matrix old.toml"));
}

}  // namespace
}  // namespace hydrant
