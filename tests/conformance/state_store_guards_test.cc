// What a store refuses, and that a refused batch leaves nothing behind.
#include <functional>

#include "tests/conformance/state_store_harness.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

TYPED_TEST_SUITE(StateStoreTest, StateStores, HarnessName);

struct Refusal {
  std::string why;
  Change change;
  std::string named;  // stands in the message
};

// `record` as `edit` leaves it.
template <class T>
T With(T record, const std::function<void(T&)>& edit) {
  edit(record);
  return record;
}

std::vector<Refusal> EvaluationRefusals(const SampleFarm& farm) {
  const EvaluationRecord next = With<EvaluationRecord>(farm.evaluation, [](auto& e) { e.id = {2}; });
  const auto variant = [&](const std::function<void(VariantRecord&)>& edit) {
    return SaveVariants{{With(farm.good, edit)}};
  };
  return {
      {"a number twice", CreateEvaluation{farm.evaluation}, "create_evaluation 1"},
      {"no such matrix", CreateEvaluation{With<EvaluationRecord>(next, [](auto& e) { e.matrix = "x"; })},
       "create_evaluation"},
      {"no such text", CreateEvaluation{With<EvaluationRecord>(next, [](auto& e) { e.digest = "x"; })},
       "create_evaluation"},
      {"final at no time",
       CreateEvaluation{With<EvaluationRecord>(next, [](auto& e) { e.state = EvaluationState::kFailed; })},
       "create_evaluation"},
      {"from another state",
       MoveEvaluation{{1}, EvaluationState::kRequested, EvaluationState::kEvaluating, "", ""},
       "move_evaluation 1: is not requested"},
      {"no such evaluation",
       MoveEvaluation{{5}, EvaluationState::kRequested, EvaluationState::kEvaluating, "", ""},
       "move_evaluation 5"},
      {"settled at no time",
       MoveEvaluation{{1}, EvaluationState::kEvaluating, EvaluationState::kSettled, "", ""},
       "move_evaluation"},
      {"open, but settled at a time",
       MoveEvaluation{{1}, EvaluationState::kEvaluating, EvaluationState::kEvaluated, "", "", At(9)},
       "move_evaluation"},
      {"of no evaluation", variant([](auto& v) { v.evaluation = {9}; }), "save_variants"},
      {"derivation and cause", variant([](auto& v) { v.cause = Cause::kBroken; }), "save_variants"},
      {"neither derivation nor cause", variant([](auto& v) { v.derivation = ""; }), "save_variants"},
      {"no id", variant([](auto& v) { v.id = ""; }), "save_variants"},
      {"a tier that is none", variant([](auto& v) { v.tier = "secret"; }), "save_variants"},
      {"a finding of no rule", variant([](auto& v) { v.findings = {{}}; }), "save_findings"},
      {"channel from another evaluation", MoveChannel{{2}, farm.channel}, "channel demo-stable"},
      {"channel that is there", MoveChannel{{}, farm.channel}, "channel demo-stable"},
      {"channel to where it is", MoveChannel{{1}, farm.channel}, "channel demo-stable"},
      {"channel to no evaluation",
       MoveChannel{{1}, With<ChannelRecord>(farm.channel, [](auto& c) { c.evaluation = {7}; })},
       "move_channel"},
      {"channel of no matrix", MoveChannel{{}, {"other", "x", {1}, "", At(0)}}, "channel"},
  };
}

std::vector<Refusal> StepRefusals(const SampleFarm& farm) {
  const std::string &a = farm.a.path, &b = farm.b.path, &c = farm.c.path;
  const auto check = [&](const std::function<void(CheckRecord&)>& edit) { return With(farm.check, edit); };
  return {
      {"a step twice", CreateSteps{{farm.step_a}}, a},
      {"a step of no derivation", CreateSteps{{{.derivation = "/nix/store/x.drv"}}}, "create_steps"},
      {"from another state", MoveSteps{{{b, StepState::kReady, StepState::kRunning, {}}}}, "move_steps " + b},
      {"no such step", MoveSteps{{{"/nix/store/x.drv", StepState::kReady, StepState::kRunning, {}}}},
       "/nix/store/x.drv"},
      {"the last of three moves",
       MoveSteps{{{a, StepState::kRunning, StepState::kBuilt, {}},
                  {b, StepState::kBlocked, StepState::kReady, {}},
                  {c, StepState::kReady, StepState::kRunning, {}}}},
       "move_steps " + c},
      {"the second move of one step",
       MoveSteps{{{b, StepState::kBlocked, StepState::kReady, {}},
                  {b, StepState::kBlocked, StepState::kReady, {}}}},
       b},
      {"failed without a cause", MoveSteps{{{a, StepState::kRunning, StepState::kFailed, {}}}}, "move_steps"},
      {"check from another state", MoveCheck{CheckState::kReady, farm.check}, "move_check k: is not ready"},
      {"no such check", MoveCheck{CheckState::kWanted, check([](auto& k) { k.key = "x"; })}, "move_check x"},
      {"check failed without a cause",
       MoveCheck{CheckState::kWanted, check([](auto& k) { k.state = CheckState::kFailed; })}, "move_check"},
      {"check passed with a cause", MoveCheck{CheckState::kWanted, check([](auto& k) {
                                                k.state = CheckState::kPassed;
                                                k.cause = Cause::kTimeout;
                                              })},
       "move_check"},
      {"check without a timeout",
       CreateChecks{{check([](auto& k) { k.key = "new", k.timeout = absl::ZeroDuration(); })}},
       "create_checks"},
  };
}

std::vector<Refusal> LeaseRefusals(const SampleFarm& farm) {
  const Lease next = With<Lease>(
      farm.lease, [&](auto& l) { l.attempt = {2}, l.token = {2}, l.subject = {.derivation = farm.b.path}; });
  const auto grant = [&](const std::function<void(Lease&)>& edit) { return GrantLease{With(next, edit)}; };
  const AttemptResult failed{.outcome = "failed", .cause = Cause::kTimeout, .ended_at = At(50)};
  const auto end = [&](const std::function<void(EndAttempt&)>& edit) {
    return With(EndAttempt{{1}, {1}, "released", failed}, edit);
  };
  return {
      {"an attempt's number twice", grant([](auto& l) { l.attempt = {1}; }), "grant_lease attempt 1"},
      {"a token twice", grant([](auto& l) { l.token = {1}; }), "grant_lease attempt 2"},
      {"a step under a live lease", grant([&](auto& l) { l.subject.derivation = farm.a.path; }), "attempt 2"},
      {"of nothing", grant([](auto& l) { l.subject = {}; }), "attempt 2"},
      {"of a step and a check", grant([](auto& l) { l.subject.check = "k"; }), "attempt 2"},
      {"of no such step", grant([](auto& l) { l.subject.derivation = "x"; }), "attempt 2"},
      {"of no such check", grant([](auto& l) { l.subject = {.check = "x"}; }), "attempt 2"},
      {"to no worker", grant([](auto& l) { l.worker = ""; }), "attempt 2"},
      {"advance under another token", AdvanceAttempt{{1}, {2}, AttemptStage::kBuilding},
       "advance_attempt attempt 1"},
      {"advance of no attempt", AdvanceAttempt{{2}, {1}, AttemptStage::kBuilding},
       "advance_attempt attempt 2"},
      {"advance to the end", AdvanceAttempt{{1}, {1}, AttemptStage::kEnded}, "advance_attempt"},
      {"end under another token", end([](auto& e) { e.token = {2}; }), "end_attempt attempt 1"},
      {"end of no attempt", end([](auto& e) { e.attempt = {2}; }), "end_attempt attempt 2"},
      {"failed without a cause", end([](auto& e) { e.result.cause = Cause::kNone; }), "end_attempt"},
      {"succeeded with a cause", end([](auto& e) { e.result.outcome = "succeeded"; }), "end_attempt"},
  };
}

std::vector<Refusal> CacheRefusals(const SampleFarm& farm) {
  const auto stage = [&](const std::function<void(NarInfoRecord&)>& edit) {
    return StageNarInfo{With<NarInfoRecord>(
        With<NarInfoRecord>(farm.info, [](auto& i) { i.path = "/nix/store/new"; }), edit)};
  };
  return {
      {"a path twice", StageNarInfo{farm.info}, farm.info.path},
      {"staged with a signature", stage([](auto& i) { i.signatures = {"k:x"}; }), "stage_narinfo"},
      {"staged at a time of publishing", stage([](auto& i) { i.published_at = At(1); }), "stage_narinfo"},
      {"without a hash", stage([](auto& i) { i.nar_hash = ""; }), "stage_narinfo"},
      {"published, but never staged",
       PublishNarInfos{{{farm.info.path, {"k:x"}}, {"/nix/store/x", {"k:x"}}}, At(9)},
       "publish_narinfos /nix/store/x"},
      {"published without a signature", PublishNarInfos{{{farm.info.path, {}}}, At(9)}, "publish_narinfos"},
      {"published twice", PublishNarInfos{{{farm.info.path, {"k:x"}}, {farm.info.path, {"k:x"}}}, At(9)},
       farm.info.path},
      {"opened, but only staged", OpenNarInfos{{farm.info.path}}, "open_narinfos " + farm.info.path},
      {"a worker without a name", SaveWorker{With<WorkerRecord>(farm.worker, [](auto& w) { w.name = ""; })},
       "save_worker"},
  };
}

TYPED_TEST(StateStoreTest, ARefusedChangeIsNamedAndLeavesNothingOfItsBatch) {
  this->Record(this->farm_.batch);
  const std::string before = Describe(this->Load());
  const WorkerRecord other = With<WorkerRecord>(this->farm_.worker, [](auto& w) { w.name = "w2"; });
  for (const auto& refusals : {EvaluationRefusals(this->farm_), StepRefusals(this->farm_),
                               LeaseRefusals(this->farm_), CacheRefusals(this->farm_)}) {
    for (const Refusal& refusal : refusals) {
      SCOPED_TRACE(refusal.why);
      const absl::Status status =
          this->store_->Commit({SaveWorker{other}, refusal.change, SaveWorker{other}});
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_THAT(status.message(), HasSubstr(refusal.named));
      EXPECT_FALSE(IsUnknownCommit(status));
      ASSERT_EQ(Describe(this->Load()), before);
    }
  }
  EXPECT_EQ(Describe(this->Reopen()), before);
}

TYPED_TEST(StateStoreTest, ATextThatCannotBeKeptIsRefused) {
  this->Record(this->farm_.batch);
  const std::string before = Describe(this->Load());
  const std::string nul("a\0b", 3);
  const std::vector<Change> changes = {
      SaveDerivations{{{nul, "x"}}},
      MoveSteps{{{this->farm_.b.path, StepState::kBlocked, StepState::kReady, {.held_by = "\xff"}}}},
      EndAttempt{{1}, {1}, "released", {.outcome = "exploded", .ended_at = At(9)}},
      SaveWorker{With<WorkerRecord>(this->farm_.worker, [&](auto& w) { w.offer.gpus[0].name = nul; })},
  };
  for (const Change& change : changes) {
    const absl::Status status = this->store_->Commit({change});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_EQ(Describe(this->Load()), before);
  }
}

TYPED_TEST(StateStoreTest, ARevokedWorkerStaysRevoked) {
  this->farm_.worker.revoked = true;
  this->Record({SaveWorker{this->farm_.worker}});
  this->farm_.worker.revoked = false;
  const absl::Status status = this->store_->Commit({SaveWorker{this->farm_.worker}});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("save_worker w1: is revoked for good"));
  EXPECT_TRUE(this->Reopen().workers[0].revoked);
}

TYPED_TEST(StateStoreTest, AnEndedAttemptDoesNotEndAgainOrAdvance) {
  this->Record(this->farm_.batch);
  const EndAttempt end{
      {1}, {1}, "revoked", {.outcome = "cancelled", .cause = Cause::kCancelled, .ended_at = At(9)}};
  this->Record({end});
  EXPECT_TRUE(absl::IsFailedPrecondition(this->store_->Commit({end})));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(this->store_->Commit({AdvanceAttempt{{1}, {1}, AttemptStage::kPushing}})));
}

TYPED_TEST(StateStoreTest, AnAttemptDoesNotGoBack) {
  this->Record(this->farm_.batch);
  this->Record({AdvanceAttempt{{1}, {1}, AttemptStage::kPushing}});
  EXPECT_TRUE(
      absl::IsFailedPrecondition(this->store_->Commit({AdvanceAttempt{{1}, {1}, AttemptStage::kFetching}})));
  this->Record({AdvanceAttempt{{1}, {1}, AttemptStage::kPushing}});
}

}  // namespace
}  // namespace hydrant
