// What is recorded is there again after a restart, change by change.
#include "absl/strings/str_cat.h"
#include "tests/conformance/state_store_harness.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TYPED_TEST_SUITE(StateStoreTest, StateStores, HarnessName);

TYPED_TEST(StateStoreTest, AFarmIsTheSameAfterARestart) {
  this->Record(this->farm_.batch);
  EXPECT_EQ(Describe(this->Load()), Describe(this->farm_.recorded));
  EXPECT_EQ(Describe(this->Reopen()), Describe(this->farm_.recorded));
}

TYPED_TEST(StateStoreTest, AnEmptyDatabaseHasNothing) {
  EXPECT_EQ(Describe(this->Load()), Describe(Recorded{}));
  EXPECT_TRUE(this->store_->Commit({}).ok());
  EXPECT_THAT(this->store_->Attempts({.derivation = "x"}, 5).value(), IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(this->store_->FindAttempt({1}).status()));
}

TYPED_TEST(StateStoreTest, AMatrixAppliedAgainKeepsTheTextOfItsEvaluations) {
  this->Record(this->farm_.batch);
  MatrixRecord matrix = this->farm_.matrix;
  matrix.digest = "digest2";
  this->Record({SaveMatrix{matrix, {.digest = "digest2", .toml = "b"}}});
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.matrices, SizeIs(1));
  EXPECT_EQ(recorded.matrices[0].digest, "digest2");
  ASSERT_THAT(recorded.texts, SizeIs(2));
  EXPECT_EQ(recorded.texts[0].files, this->farm_.text.files);
  EXPECT_EQ(recorded.texts[1].toml, "b");
}

TYPED_TEST(StateStoreTest, AnEvaluationSettlesAndIsReopened) {
  this->Record(this->farm_.batch);
  this->Record(
      {MoveEvaluation{{1}, EvaluationState::kEvaluating, EvaluationState::kEvaluated, "r2", ""},
       MoveEvaluation{{1}, EvaluationState::kEvaluated, EvaluationState::kSettled, "r2", "", At(60), true}});
  EXPECT_EQ(this->Load().evaluations[0].settled_at, At(60));
  this->Record({MoveEvaluation{{1}, EvaluationState::kSettled, EvaluationState::kEvaluated, "r2", "again"}});
  EvaluationRecord expected = this->farm_.evaluation;
  expected.state = EvaluationState::kEvaluated;
  expected.revision = "r2";
  expected.message = "again";
  EXPECT_EQ(Describe(this->Reopen().evaluations[0]), Describe(expected));
}

TYPED_TEST(StateStoreTest, ALoadGivesTheNewestTwentyEvaluationsAndAllThatAreOpen) {
  this->Record(this->farm_.batch);
  for (int id = 2; id <= 25; ++id) {
    EvaluationRecord evaluation = this->farm_.evaluation;
    evaluation.id = {id};
    evaluation.state = EvaluationState::kFailed;
    evaluation.settled_at = At(id);
    VariantRecord variant = this->farm_.good;
    variant.evaluation = {id};
    this->Record({CreateEvaluation{evaluation}, SaveVariants{{variant}}});
  }
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.evaluations, SizeIs(21));
  EXPECT_EQ(recorded.evaluations[0].id.value, 1);
  EXPECT_EQ(recorded.evaluations[1].id.value, 6);
  EXPECT_EQ(recorded.evaluations[20].id.value, 25);
  EXPECT_THAT(recorded.variants, SizeIs(22));
  EXPECT_EQ(recorded.last_evaluation.value, 25);
  const auto newest = this->store_->Evaluations("demo", 2);
  ASSERT_THAT(newest.value(), SizeIs(2));
  EXPECT_EQ((*newest)[0].id.value, 25);
  EXPECT_THAT(this->store_->Variants({3}).value(), SizeIs(1));
  EXPECT_THAT(this->store_->Evaluations("none", 2).value(), IsEmpty());
}

TYPED_TEST(StateStoreTest, ABusyBranchLeavesTheEvaluationsOfAnotherInALoad) {
  this->Record(this->farm_.batch);
  for (int id = 2; id <= 25; ++id) {
    EvaluationRecord evaluation = this->farm_.evaluation;
    evaluation.id = {id};
    evaluation.branch = id == 2 ? "quiet" : "busy";
    evaluation.state = EvaluationState::kFailed;
    evaluation.settled_at = At(id);
    this->Record({CreateEvaluation{evaluation}});
  }
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.evaluations, SizeIs(22));
  EXPECT_EQ(recorded.evaluations[1].branch, "quiet");
  EXPECT_EQ(recorded.evaluations[2].id.value, 6);
}

TYPED_TEST(StateStoreTest, ADerivedListIsReplacedByTheEvaluationsNext) {
  this->Record(this->farm_.batch);
  DerivedListRecord other = this->farm_.derived_list;
  other.revision = "r2";
  other.packages = {"another"};
  this->Record({SaveDerivedList{other}});
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.derived_lists, SizeIs(1));
  EXPECT_EQ(recorded.derived_lists[0].packages, other.packages);
  EXPECT_EQ(recorded.derived_lists[0].revision, "r2");
}

TYPED_TEST(StateStoreTest, AVariantIsReplacedAndTheLastOfTwoHolds) {
  this->Record(this->farm_.batch);
  VariantRecord first = this->farm_.refused, second = this->farm_.refused;
  first.message = "first";
  second.cause = Cause::kNone;
  second.message = "";
  second.derivation = "/nix/store/x.drv";
  this->Record({SaveVariants{{first, second}}});
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.variants, SizeIs(2));
  EXPECT_EQ(Describe(recorded.variants[1]), Describe(second));
}

TYPED_TEST(StateStoreTest, FindingsAreReplacedWithTheirVariant) {
  this->Record(this->farm_.batch);
  VariantRecord first = this->farm_.good, second = this->farm_.good;
  first.findings = {{"a", Severity::kWarn, "m", {"p"}}, {"b", Severity::kWarn, "n", {}}};
  second.findings = {{"c", Severity::kRefuse, "o", {"p", "q"}}};
  this->Record({SaveVariants{{first}}, SaveVariants{{second, this->farm_.refused}}});
  EXPECT_EQ(this->Reopen().variants[0].findings, second.findings);
  EXPECT_EQ(this->store_->Variants({1})->at(0).findings, second.findings);
  second.findings.clear();
  this->Record({SaveVariants{{second}}});
  EXPECT_THAT(this->Reopen().variants[0].findings, IsEmpty());
}

TYPED_TEST(StateStoreTest, ADerivationThatIsThereStays) {
  this->Record(this->farm_.batch);
  this->Record({SaveDerivations{{{this->farm_.a.path, "other"}, {"/nix/store/new.drv", "new"}}}});
  this->Record({CreateSteps{{{.derivation = "/nix/store/new.drv"}}}});
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.derivations, SizeIs(4));
  EXPECT_EQ(recorded.derivations[0].aterm, this->farm_.a.aterm);
  EXPECT_EQ(recorded.derivations[3].aterm, "new");
}

TYPED_TEST(StateStoreTest, ADerivationThatIsOnlyAnInputIsReadBackToo) {
  this->Record({SaveDerivations{{{"/nix/store/input.drv", "held upstream, so it has no step"}}}});
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.derivations, SizeIs(1));
  EXPECT_EQ(recorded.derivations[0].path, "/nix/store/input.drv");
}

TYPED_TEST(StateStoreTest, AStepMovesTwiceInOneChange) {
  this->Record(this->farm_.batch);
  const std::string& b = this->farm_.b.path;
  const StepDetail detail{.cause = Cause::kBuilderFailed,
                          .message = "error: b",
                          .root = b,
                          .failed_attempts = 1,
                          .not_before = At(90),
                          .held_by = ""};
  this->Record({MoveSteps{{{b, StepState::kBlocked, StepState::kReady, {}},
                           {this->farm_.a.path, StepState::kRunning, StepState::kBackingOff, detail},
                           {b, StepState::kReady, StepState::kRunning, {}},
                           {b, StepState::kRunning, StepState::kFailed, detail}}}});
  Recorded expected = this->farm_.recorded;
  expected.steps[0] = {this->farm_.a.path, StepState::kBackingOff, detail};
  expected.steps[1] = {b, StepState::kFailed, detail};
  EXPECT_EQ(Describe(this->Reopen()), Describe(expected));
}

TYPED_TEST(StateStoreTest, ThousandsOfStepsAreOneChange) {
  SaveDerivations derivations;
  CreateSteps steps;
  MoveSteps moves;
  for (int i = 0; i < 5000; ++i) {
    const std::string path = absl::StrCat("/nix/store/", absl::Dec(i, absl::kZeroPad5), ".drv");
    derivations.derivations.push_back({path, "x"});
    steps.steps.push_back({.derivation = path});
    moves.moves.push_back({path, StepState::kBlocked, StepState::kReady, {}});
  }
  this->Record({derivations, steps, moves});
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.steps, SizeIs(5000));
  EXPECT_EQ(recorded.steps[4999].state, StepState::kReady);
  moves.moves[4321].from = StepState::kBuilt;
  for (auto& move : moves.moves) move.from = move.from == StepState::kBuilt ? move.from : StepState::kReady;
  EXPECT_THAT(this->store_->Commit({moves}).message(), HasSubstr("/nix/store/04321.drv"));
}

TYPED_TEST(StateStoreTest, ACheckIsCreatedOnceAndMoves) {
  this->Record(this->farm_.batch);
  CheckRecord check = this->farm_.check;
  check.state = CheckState::kReady;
  this->Record({CreateChecks{{check}}});
  EXPECT_EQ(this->Load().checks[0].state, CheckState::kWanted);
  check.state = CheckState::kFailed;
  check.cause = Cause::kNoKernelImage;
  check.message = "no kernel image";
  check.architecture = "8.6";
  check.driver = "535.1";
  check.simulated = true;
  check.attempt = {9};
  check.failed_attempts = 3;
  this->Record({MoveCheck{CheckState::kWanted, check}});
  Recorded expected = this->farm_.recorded;
  expected.checks = {check};
  EXPECT_EQ(Describe(this->Reopen()), Describe(expected));
}

TYPED_TEST(StateStoreTest, ANarInfoIsPublishedWithItsSignatures) {
  this->Record(this->farm_.batch);
  this->Record({PublishNarInfos{{{this->farm_.info.path, {"key-1:a+/=", "key-2:b"}}}, At(70)}});
  Recorded expected = this->farm_.recorded;
  expected.narinfos[0].state = NarInfoState::kPublished;
  expected.narinfos[0].signatures = {"key-1:a+/=", "key-2:b"};
  expected.narinfos[0].published_at = At(70);
  EXPECT_EQ(Describe(this->Reopen()), Describe(expected));
}

TYPED_TEST(StateStoreTest, WhatIsHeldIsOpenedOnce) {
  this->Record(this->farm_.batch);
  const std::string& path = this->farm_.info.path;
  this->Record({PublishNarInfos{{{path, {"key-1:a"}, NarInfoTier::kHeld}}, At(70)}});
  EXPECT_EQ(this->Reopen().narinfos[0].tier, NarInfoTier::kHeld);
  this->Record({OpenNarInfos{{path}}});
  EXPECT_EQ(this->Reopen().narinfos[0].tier, NarInfoTier::kPublic);
}

TYPED_TEST(StateStoreTest, AChannelMovesToANewerEvaluation) {
  this->Record(this->farm_.batch);
  EvaluationRecord next = this->farm_.evaluation;
  next.id = {2};
  ChannelRecord channel = this->farm_.channel;
  channel.evaluation = {2};
  channel.revision = "r2";
  this->Record({CreateEvaluation{next}, MoveChannel{{1}, channel}});
  const Recorded recorded = this->Reopen();
  ASSERT_THAT(recorded.channels, SizeIs(1));
  EXPECT_EQ(recorded.channels[0].evaluation.value, 2);
  EXPECT_EQ(recorded.channels[0].revision, "r2");
}

TYPED_TEST(StateStoreTest, AWorkerIsReplacedWithItsGpus) {
  this->Record(this->farm_.batch);
  WorkerRecord worker = this->farm_.worker;
  worker.offer.gpus.pop_back();
  worker.offer.features.clear();
  worker.revoked = true;
  this->Record({SaveWorker{worker}});
  Recorded expected = this->farm_.recorded;
  expected.workers = {worker};
  EXPECT_EQ(Describe(this->Reopen()), Describe(expected));
}

TYPED_TEST(StateStoreTest, AMessageOfAnyBytesIsKeptReadable) {
  this->Record(this->farm_.batch);
  const StepDetail detail{.cause = Cause::kBuilderFailed,
                          .message = std::string("caf\xe9 \0\xe2\x82\xac", 9)};
  this->Record({MoveSteps{{{this->farm_.b.path, StepState::kBlocked, StepState::kFailed, detail}}}});
  EXPECT_EQ(this->Reopen().steps[1].detail.message, "caf\xef\xbf\xbd \xe2\x82\xac");
}

TYPED_TEST(StateStoreTest, TimesAreKeptToTheMicrosecond) {
  this->farm_.worker.seen_at = At(3) + absl::Nanoseconds(1999);
  this->Record({SaveWorker{this->farm_.worker}});
  EXPECT_EQ(this->Reopen().workers[0].seen_at, At(3) + absl::Microseconds(1));
}

TYPED_TEST(StateStoreTest, OneHydrantdIsActiveAtATime) {
  this->Record(this->farm_.batch);
  const std::unique_ptr<StateStore> second = this->harness_.Open();
  EXPECT_TRUE(absl::IsFailedPrecondition(second->Commit({SaveWorker{this->farm_.worker}})));
  EXPECT_TRUE(absl::IsFailedPrecondition(second->FindAttempt({1}).status()));
  const absl::Status refused = second->Load().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(refused.message(), HasSubstr("another hydrantd is active"));
  this->store_.reset();
  const absl::StatusOr<Recorded> loaded = second->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Describe(*loaded), Describe(this->farm_.recorded));
}

}  // namespace
}  // namespace hydrant
