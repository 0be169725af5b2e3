// An evaluation through source, evaluator, closure, presence and coordinator; the first two scripted.
#include "daemon/coordinator/evaluation_run.h"

#include "daemon/coordinator/evaluation_run_fixture.h"
#include "daemon/evaluate/cached_evaluator.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST_F(EvaluationRunTest, OutcomesBecomeStepsAndItsRootsAreReleased) {
  Write("base\ntop: base\nheld", {"top", "held"});
  presence_.Hold(OutputOf("held"));
  DeclareHere({"top", "held", "missing"});
  RunOne();
  EXPECT_EQ(States(), "top:pending held:cached missing:impossible");
  EXPECT_EQ(farm().StatesOf({DrvOf("base")})[DrvOf("base")], StepState::kReady);
  EXPECT_EQ(Newest().revision.size(), 52u);
  EXPECT_THAT(evaluator_.roots(), IsEmpty());
}

TEST_F(EvaluationRunTest, WhatSlicesShareIsAskedForOnceAnEvaluation) {
  Write("base\nmiddle: base\none: middle\ntwo: middle base", {"one", "two"});
  DeclareSlices({"one", "two"});
  RunOne();
  EXPECT_EQ(States(), "p:pending p:pending");
  EXPECT_EQ(presence_.Asked(OutputOf("middle")), 1);
  EXPECT_EQ(farm().StatesOf({DrvOf("base")})[DrvOf("base")], StepState::kReady);
  RunOne();
  EXPECT_EQ(presence_.Asked(OutputOf("middle")), 2);
}

TEST_F(EvaluationRunTest, AStepOfALaterSliceBringsAnInputThatOnlyAHeldOneHadBefore) {
  Write("deep\nheld: deep\ntop: deep", {"held", "top"});
  presence_.Hold(OutputOf("held"));
  DeclareSlices({"held", "top"});
  RunOne();
  EXPECT_EQ(States(), "p:cached p:pending");
  EXPECT_EQ(farm().StatesOf({DrvOf("deep")})[DrvOf("deep")], StepState::kReady);
  EXPECT_TRUE(IsRecorded("deep"));
}

TEST_F(EvaluationRunTest, AStepThatAHookLooksIntoBringsAllBelowIt) {
  Write("deepest\ndeep: deepest\nheld: deep\nchecked: held\nplain: held", {"held", "checked", "plain"});
  nix::Derivation checked = packages_.Of("checked");
  checked.environment["requiredSystemFeatures"] = "cuda";
  WriteDrv(DrvOf("checked"), nix::PrintDerivation(checked));
  presence_.Hold(OutputOf("held"));
  DeclareSlices({"held", "plain"});
  RunOne();
  EXPECT_FALSE(IsRecorded("deepest"));
  DeclareSlices({"held", "checked"});
  RunOne();
  EXPECT_TRUE(IsRecorded("deepest"));
  EXPECT_THAT(farm().StatesOf({DrvOf("deep"), DrvOf("deepest")}), IsEmpty());
}

TEST_F(EvaluationRunTest, WhatIsRecordedIsNotReadAgainAfterARestart) {
  Write("base\ntop: base", {"top"});
  DeclareHere({"top"});
  RunOne();
  Restart();
  DerivationClosure unread(dir_.path());
  MakeRun(unread);
  EXPECT_TRUE(run_->Recall());
  ASSERT_TRUE(RemoveTree(dir_ / "nix/store").ok());
  RunOne();
  EXPECT_EQ(States(), "top:pending");
}

TEST_F(EvaluationRunTest, ABadDerivationIsOnlyItsOwnVariantsMatter) {
  Write("good\ntorn\nwrong: good\nfloating", {"good", "torn", "wrong", "floating"});
  WriteDrv(DrvOf("torn"), "Derive([");
  nix::Derivation wrong = packages_.Of("wrong");
  wrong.input_derivations[DrvOf("good")] = {"dev"};
  WriteDrv(DrvOf("wrong"), nix::PrintDerivation(wrong));
  nix::Derivation floating = packages_.Of("floating");
  floating.outputs["out"] = {.path = "", .hash_algo = "r:sha256"};
  WriteDrv(DrvOf("floating"), nix::PrintDerivation(floating));
  DeclareHere({"good", "torn", "wrong", "floating"});
  RunOne();
  EXPECT_EQ(States(), "good:ready torn:failed wrong:impossible floating:impossible");
  EXPECT_THAT(View("torn").message, HasSubstr(DrvOf("torn")));
  EXPECT_THAT(View("wrong").message, HasSubstr("has no output dev"));
  EXPECT_THAT(View("floating").message, HasSubstr("content-addressed"));
  EXPECT_EQ(View("torn").cause, "unknown");
  EXPECT_EQ(View("floating").cause, "rule");
}

TEST_F(EvaluationRunTest, OutputsThatNoDerivationMakesAreRefused) {
  Write("good\nbad", {"good", "bad"});
  evaluator_.Script("bad", {.derivation = DrvOf("bad"), .outputs = {{"out", OutputOf("good")}}});
  evaluator_.Script("odd", {.derivation = DrvOf("good"), .outputs = {{"out", OutputOf("good")}, {"dev", OutputOf("bad")}}});
  evaluator_.Script("env", {.derivation = DrvOf("good"), .outputs = {{"out", OutputOf("good")}},
                            .environment = DrvOf("bad"), .environment_output = OutputOf("good")});
  DeclareHere({"good", "bad", "odd", "env"});
  RunOne();
  EXPECT_EQ(States(), "good:ready bad:impossible odd:impossible env:impossible");
  EXPECT_EQ(View("odd").cause, "not_a_derivation");
}

TEST_F(EvaluationRunTest, ASystemThatIsNoNameIsRefused) {
  Write("good\nodd\nuser: odd", {"good", "user"});
  nix::Derivation odd = packages_.Of("odd");
  odd.system = "x86\x1b[31m\nlinux";
  WriteDrv(DrvOf("odd"), nix::PrintDerivation(odd));
  DeclareHere({"good", "user"});
  RunOne();
  EXPECT_EQ(States(), "good:ready user:impossible");
  EXPECT_THAT(View("user").message, HasSubstr("its system 'x86?[31m"));
}

TEST_F(EvaluationRunTest, ASourceThatIsNotThereFailsTheEvaluation) {
  Write("a", {"a"});
  DeclareHere({"a"});
  ASSERT_TRUE(RemoveTree(dir_ / "src").ok());
  RunOne();
  EXPECT_EQ(StateOfEvaluation(), "failed");
  EXPECT_THAT(Newest().message, HasSubstr("/src"));
}

TEST_F(EvaluationRunTest, AnEvaluatorThatCannotBeginFailsTheEvaluation) {
  Write("a", {"a"});
  DeclareHere({"a"});
  evaluator_.FailWith(absl::NotFoundError("no nix-instantiate"));
  RunOne();
  EXPECT_EQ(StateOfEvaluation(), "failed");
  EXPECT_EQ(Newest().message, "no nix-instantiate");
}

TEST_F(EvaluationRunTest, ARecordThatIsAwayForAMomentLosesNothing) {
  Write("a\nb", {"a", "b"});
  DeclareHere({"a", "b"});
  for (int n = 1; n <= 4; ++n) {
    Trigger("m");
    auto task = farm().TakeRequested();
    daemon_->store.FailNth(n, n % 2 == 0 ? CommitFault::kUnknownRecorded : CommitFault::kUnavailable);
    run_->Run(**task, stop_);
    EXPECT_EQ(States(), "a:ready b:ready") << n;
    EXPECT_EQ(StateOfEvaluation(), "evaluated") << n;
  }
}

TEST_F(EvaluationRunTest, SourcesThatCannotBeBroughtMakeTheirVariantsUnknown) {
  Write("a\nheld", {"a", "held"});
  nix::Derivation with_source = packages_.Of("a");
  with_source.input_sources = {StorePathOf("builder.sh")};
  WriteDrv(DrvOf("a"), nix::PrintDerivation(with_source));
  DeclareHere({"a"});
  RunOne();
  EXPECT_EQ(States(), "a:failed");
  EXPECT_THAT(View("a").message, HasSubstr("bring the sources into the cache: no Nix here"));
}

TEST_F(EvaluationRunTest, ACancelledEvaluationTakesNoMoreOutcomes) {
  Write("a", {"a"});
  DeclareHere({"a"});
  Trigger("m");
  auto task = farm().TakeRequested();
  ASSERT_TRUE(farm().Cancel({.matrix = "m"}).ok());
  run_->Run(**task, stop_);
  EXPECT_EQ(States(), "a:cancelled");
  EXPECT_THAT(farm().StatesOf({DrvOf("a")}), IsEmpty());
}

class DerivedRunTest : public EvaluationRunTest {
 protected:
  DerivedRunTest() {
    Write("left\nright", {"left", "right"});
    evaluator_.ScriptChanged({"left", "right", "unwanted"});
    const std::string toml = absl::StrCat(
        "name = \"m\"\nsource.path = \"", dir_ / "src",
        "\"\n[axes]\npackage = { changed_by = \"cudaSupport\", filter = [\"left\", \"right\"] }\n");
    EXPECT_TRUE(farm().Apply({.toml = toml, .directory = "/", .file = "m.toml"}, false).ok());
  }
};

TEST_F(DerivedRunTest, TheListIsDerivedOnceForEachRevision) {
  RunOne();
  EXPECT_EQ(States(), "left:ready right:ready");
  evaluator_.ScriptChanged({"right"});
  RunOne();
  EXPECT_EQ(States(), "left:ready right:ready");
  auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->variants.size(), 2u);
  EXPECT_THAT(plan->notes, ElementsAre("cudaSupport changes 2 packages"));
  ASSERT_TRUE(WriteFileAtomically(dir_ / "src/default.nix", "{ changed = 1; }").ok());
  RunOne();
  EXPECT_EQ(States(), "right:ready");
}

TEST_F(DerivedRunTest, APlanDerivesTheListAndRecordsNothing) {
  const int64_t commits = database_->commits();
  auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->variants.size(), 2u);
  EXPECT_EQ(plan->build, 2);
  EXPECT_EQ(database_->commits(), commits);
  EXPECT_THAT(evaluator_.roots(), IsEmpty());
}

TEST_F(DerivedRunTest, OneMoreValueIsPricedOverTheListOfTheMatrixAsItIs) {
  const std::string toml = absl::StrCat("name = \"m\"\nsource.path = \"", dir_ / "src",
                                        "\"\n[axes]\ncuda = [\"12.1\"]\npackage = { changed_by = "
                                        "\"cudaSupport\", filter = [\"left\", \"right\"] }\n");
  ASSERT_TRUE(farm().Apply({.toml = toml, .directory = "/", .file = "m.toml"}, false).ok());
  const auto declared = farm().DeclaredOf("m");
  EXPECT_TRUE(absl::IsInvalidArgument(Extend(*declared, {"package=x"}, "x86_64-linux").status()));
  const auto extended = Extend(*declared, {"cuda=12.2"}, "x86_64-linux");
  ASSERT_TRUE(extended.ok()) << extended.status();
  auto plan = run_->Plan(*declared, {}, stop_, extended->get());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->variants.size(), 2u);
  EXPECT_THAT(plan->notes, ElementsAre("cudaSupport changes 2 packages"));
  EXPECT_EQ(plan->addition->variants.size(), 2u);
}

TEST_F(DerivedRunTest, AnEmptyListFailsTheEvaluationAndThePlan) {
  evaluator_.ScriptChanged({"unwanted"});
  RunOne();
  EXPECT_EQ(StateOfEvaluation(), "failed");
  EXPECT_THAT(Newest().message, HasSubstr("the filter (left right) leaves"));
  EXPECT_TRUE(absl::IsInvalidArgument(run_->Plan(*farm().DeclaredOf("m"), {}, stop_).status()));
}

TEST_F(EvaluationRunTest, WhatUpstreamHeldIsRemembered) {
  UpstreamMemory memory(presence_);
  presence_.Hold(OutputOf("a"));
  EXPECT_FALSE(memory.Holds(OutputOf("a"))) << "nobody asked";
  memory.Ask({OutputOf("a"), OutputOf("b")});
  presence_.Hide(OutputOf("a"));
  EXPECT_TRUE(memory.Holds(OutputOf("a")));
  EXPECT_FALSE(memory.Holds(OutputOf("b")));
}

// As the daemon has it: in front of the evaluator, what it once said.
class RememberedRunTest : public EvaluationRunTest {
 protected:
  RememberedRunTest() {
    run_ = std::make_unique<EvaluationRun>(EvaluationRun::Options{.coordinator = farm(),
                                                                  .source = source_,
                                                                  .evaluator = cached_,
                                                                  .closure = closure_,
                                                                  .presence = presence_,
                                                                  .catalogue = daemon_->catalogue,
                                                                  .import = import_});
  }
  // What the evaluator itself was asked since the last call.
  int64_t Evaluated() { return std::exchange(counts_["miss"], 0) + std::exchange(counts_["gone"], 0); }

  std::map<std::string, int64_t> counts_;
  std::unique_ptr<EvaluationCache> cache_ = *EvaluationCache::Open({.folder = dir_ / "evaluations"});
  CachedEvaluator cached_{
      {.evaluator = evaluator_,
       .cache = *cache_,
       .store_root = dir_.path(),
       .identity = []() -> absl::StatusOr<std::string> { return "scripted"; },
       .observe = [this](std::string_view result, int64_t n) { counts_[std::string(result)] += n; }}};
};

TEST_F(RememberedRunTest, TheSameRevisionAgainEvaluatesNothingAndGivesTheSameGrid) {
  Write("base\ntop: base\nheld", {"top", "held"});
  presence_.Hold(OutputOf("held"));
  DeclareHere({"top", "held", "missing"});
  RunOne();
  EXPECT_EQ(Evaluated(), 3);
  const std::string states = States();
  evaluator_.FailWith(absl::InternalError("asked"));
  RunOne();
  EXPECT_EQ(Evaluated(), 0);
  EXPECT_EQ(States(), states);
  EXPECT_EQ(counts_["hit"], 3);
  EXPECT_EQ(Newest().id.value, 2);
  EXPECT_TRUE(run_->Plan(*farm().DeclaredOf("m"), {}, stop_).ok());
  EXPECT_EQ(Evaluated(), 0);
}

TEST_F(RememberedRunTest, AnotherRevisionIsEvaluated) {
  Write("top", {"top"});
  DeclareHere({"top"});
  RunOne();
  ASSERT_TRUE(WriteFileAtomically(dir_ / "src/default.nix", "{ changed = 1; }").ok());
  RunOne();
  EXPECT_EQ(Evaluated(), 2);
}

TEST_F(RememberedRunTest, RetryAfterADeadEvaluatorEvaluatesOnlyWhatItLeftUnknown) {
  Write("a\nb\nc", {"a", "b", "c"});
  evaluator_.Script("b", {.cause = Cause::kEvaluatorOutOfMemory, .message = "out of memory"});
  DeclareHere({"a", "b", "c", "missing"});
  RunOne();
  EXPECT_EQ(States(), "a:ready b:failed c:ready missing:impossible") << "never fewer variants";
  EXPECT_EQ(Evaluated(), 4);
  evaluator_.Script("b", {.derivation = DrvOf("b"), .outputs = {{"out", OutputOf("b")}}});
  ASSERT_TRUE(farm().Retry({.matrix = "m"}, "").ok());
  auto task = farm().TakeRequested();
  ASSERT_TRUE(task.ok() && task->has_value());
  run_->Run(**task, stop_);
  EXPECT_EQ(States(), "a:ready b:ready c:ready missing:impossible");
  EXPECT_EQ(Evaluated(), 1);
}

}  // namespace
}  // namespace hydrant
