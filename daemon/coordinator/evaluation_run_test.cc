// An evaluation through source, evaluator, closure, presence and coordinator; the first two scripted.
#include "daemon/coordinator/evaluation_run.h"

#include "daemon/coordinator/farm_fixture.h"
#include "daemon/evaluate/cached_evaluator.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "tests/fakes/fake_evaluator.h"
#include "tests/fakes/memory_source.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class EvaluationRunTest : public FarmTest {
 protected:
  EvaluationRunTest() {
    EXPECT_TRUE(MakeDirectories(dir_ / "src").ok());
    EXPECT_TRUE(MakeDirectories(dir_ / "nix/store").ok());
    EXPECT_TRUE(WriteFileAtomically(dir_ / "src/default.nix", "{ }").ok());
    MakeRun(closure_);
  }
  void MakeRun(DerivationClosure& closure) {
    run_ = std::make_unique<EvaluationRun>(EvaluationRun::Options{
        .coordinator = farm(), .source = source_, .evaluator = evaluator_, .closure = closure, .presence = presence_,
        .catalogue = daemon_->catalogue, .import = import_});
  }
  // One package, and a slice for each of these, in this order.
  void DeclareSlices(const std::vector<std::string>& names) {
    std::vector<std::string> values;
    for (const std::string& name : names) {
      values.push_back(absl::StrCat(values.size() + 1));
      evaluator_.Script(absl::StrCat("p@x=", values.back(), "-x86_64-linux"),
                        {.derivation = DrvOf(name), .outputs = {{"out", OutputOf(name)}}});
    }
    DeclareHere({"p"}, absl::StrCat("[axes.more]\nx = [\"", absl::StrJoin(values, "\", \""), "\"]\n"));
  }
  bool IsRecorded(const std::string& name) { return farm().RecordedDerivations({DrvOf(name)})[0] != nullptr; }
  // Each package a .drv file and what the evaluator says of it.
  void Write(const std::string& lines, const std::vector<std::string>& names) {
    SetPackages(lines);
    for (const auto& loaded : packages_.Closure(names)) WriteDrv(loaded->path, loaded->aterm);
    for (const std::string& name : names) {
      evaluator_.Script(name, {.derivation = DrvOf(name), .outputs = {{"out", OutputOf(name)}}});
    }
  }
  void WriteDrv(const std::string& path, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(dir_.path() + path, text).ok());
  }
  void DeclareHere(const std::vector<std::string>& packages, const std::string& more = "") {
    const std::string toml = absl::StrCat("name = \"m\"\nsource.path = \"", dir_ / "src", "\"\n[axes]\npackage = [\"",
                                          absl::StrJoin(packages, "\", \""), "\"]\n", more);
    auto applied = farm().Apply({.toml = toml, .directory = "/", .file = "m.toml"}, false);
    ASSERT_TRUE(applied.ok()) << applied.status();
  }
  void RunOne() {
    Trigger("m");
    auto task = farm().TakeRequested();
    ASSERT_TRUE(task.ok() && task->has_value());
    run_->Run(**task, stop_);
  }

  TestDir dir_;
  MemorySource source_;
  FakeEvaluator evaluator_;
  DerivationClosure closure_{dir_.path()};
  StoreImport import_{[this]() -> absl::StatusOr<std::unique_ptr<nix::DaemonClient>> { return import_status_; },
                      daemon_->intake, daemon_->publisher};
  absl::Status import_status_ = absl::NotFoundError("no Nix here");
  std::atomic<bool> stop_ = false;
  std::unique_ptr<EvaluationRun> run_;
};

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

TEST_F(EvaluationRunTest, ABadDerivationMakesOnlyItsOwnVariantsUnknown) {
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
  EXPECT_EQ(States(), "good:ready torn:failed wrong:failed floating:failed");
  EXPECT_THAT(View("torn").message, HasSubstr(DrvOf("torn")));
  EXPECT_THAT(View("wrong").message, HasSubstr("has no output dev"));
  EXPECT_THAT(View("floating").message, HasSubstr("content-addressed"));
  EXPECT_EQ(View("torn").cause, "unknown");
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

TEST_F(EvaluationRunTest, APlanSaysWhatWouldBeBuiltAndRecordsNothing) {
  Write("base\ntop: base\nheld\nbad", {"top", "held", "bad"});
  presence_.Hold(OutputOf("held"));
  DeclareHere({"top", "held", "bad", "missing"});
  const int64_t commits = database_->commits();
  auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::string states;
  for (const PlannedVariant& variant : plan->variants) absl::StrAppend(&states, variant.state, " ");
  EXPECT_EQ(states, "pending cached pending impossible ");
  EXPECT_EQ(plan->build, 3);
  EXPECT_EQ(plan->present, 1);
  EXPECT_THAT(plan->present_in, ElementsAre(Pair(FakePresence::kCache, 1)));
  EXPECT_EQ(plan->shared, 0);
  EXPECT_EQ(database_->commits(), commits);
  EXPECT_THAT(evaluator_.roots(), IsEmpty());
}

TEST_F(EvaluationRunTest, APlanKnowsWhatFailedBefore) {
  Write("bad", {"bad"});
  DeclareHere({"bad"});
  TestWorker worker("w1", farm());
  worker.Sync();
  RunOne();
  worker.Sync();
  ASSERT_TRUE(worker.End("bad", Cause::kBuilderFailed).ok());
  auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_);
  EXPECT_EQ(plan->variants[0].state, "failed");
  EXPECT_EQ(plan->variants[0].cause, Cause::kBuilderFailed);
  EXPECT_EQ(plan->variants[0].root, DrvOf("bad"));
  EXPECT_EQ(plan->build, 0);
}

// The same tree after its steps were built once: what is known of them.
class PlanCostTest : public EvaluationRunTest {
 protected:
  // Runs the matrix to its end; each step takes a second, its output's NAR has 20 bytes.
  void BuildAll(TestWorker& worker) {
    RunOne();
    for (worker.Sync(); !worker.Held().empty(); worker.Sync()) {
      for (const auto& [name, assignment] : worker.held()) {
        if (!assignment.check) {
          ASSERT_TRUE(Upload(name).ok());
        }
        ASSERT_TRUE(worker.End(name, Cause::kNone).ok()) << name;
      }
    }
  }
  PlanView PlanOf(const Declared* extended = nullptr) {
    auto plan = run_->Plan(*farm().DeclaredOf("m"), {}, stop_, extended);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : PlanView();
  }
};

TEST_F(PlanCostTest, AfterOneRunNothingIsToBuildAndAnotherVersionHasAPrice) {
  Write("base-1\ntop-1: base-1\nbase-2\ntop-2: base-2\nnew-1", {"top-1", "top-2", "new-1"});
  DeclareHere({"top-1"});
  TestWorker worker("w1", farm(), 2);
  const PlanView before = PlanOf();
  EXPECT_EQ(before.forecast.unknown_steps, 2);
  EXPECT_EQ(before.forecast.workers, 0);
  BuildAll(worker);
  const PlanView after = PlanOf();
  EXPECT_EQ(after.build, 0);
  EXPECT_THAT(after.totals, ElementsAre(Pair("cached", 1)));
  EXPECT_THAT(after.present_in, ElementsAre(Pair("ours", 1)));

  DeclareHere({"top-1", "top-2", "new-1"});
  for (int life = 0; life < 2; ++life) {
    const PlanView more = PlanOf();
    EXPECT_EQ(more.build, 3);
    EXPECT_EQ(more.forecast.unknown_steps, 1) << "new-1";
    EXPECT_EQ(more.forecast.core_time, absl::Seconds(2));
    EXPECT_EQ(more.forecast.bytes, 40);
    EXPECT_EQ(more.forecast.unmeasured_cpu, 2);
    EXPECT_EQ(more.forecast.path, life == 0 ? absl::Seconds(2) : absl::ZeroDuration()) << "nobody is connected then";
    Restart();  // history is the record's
    MakeRun(closure_);
  }
}

TEST_F(PlanCostTest, ChecksCountGpuMinutesUntilTheyAreDecided) {
  Write("torch-1\ntorch-2", {"torch-1", "torch-2"});
  DeclareHere({"torch-1", "torch-2"}, "[[check]]\nname = \"cuda\"\nfor = \"*\"\ngpu = true\ncommand = [\"true\"]\n");
  TestWorker worker("w1", farm(), 2);
  worker.AddGpu("8.6");
  worker.Sync();
  const PlanView before = PlanOf();
  EXPECT_EQ(before.forecast.checks, 2);
  EXPECT_EQ(before.forecast.unknown_checks, 2);
  BuildAll(worker);
  EXPECT_EQ(PlanOf().forecast.checks, 0);

  Write("torch-3", {"torch-3"});
  DeclareHere({"torch-3"}, "[[check]]\nname = \"cuda\"\nfor = \"*\"\ngpu = true\ncommand = [\"true\"]\n");
  const PlanView next = PlanOf();
  EXPECT_EQ(next.forecast.unknown_checks, 0);
  EXPECT_EQ(next.forecast.gpu_time, absl::Seconds(1));
  EXPECT_EQ(next.forecast.path, absl::Seconds(2)) << "the check comes after its step";
}

TEST_F(PlanCostTest, WhatBuildsFetchIsCountedOncePerPath) {
  Write("ours-1\ntheirs-1\nsilent-1\na-1: ours-1 theirs-1 silent-1\nb-1: ours-1", {"ours-1", "a-1", "b-1"});
  DeclareHere({"ours-1"});
  TestWorker worker("w1", farm());
  BuildAll(worker);
  presence_.Hold(OutputOf("theirs-1"), 300);
  presence_.Hold(OutputOf("silent-1"));
  DeclareHere({"a-1", "b-1"});
  const PlanView plan = PlanOf();
  EXPECT_EQ(plan.build, 2);
  EXPECT_THAT(plan.present_in, ElementsAre(Pair(FakePresence::kCache, 2), Pair("ours", 1)));
  EXPECT_EQ(plan.downloads, 3);
  EXPECT_EQ(plan.download_bytes, 10 + 300);
  EXPECT_EQ(plan.unknown_downloads, 1);
}

TEST_F(PlanCostTest, OneMoreValueCostsWhatOnlyItsVariantsNeed) {
  Write("base-1\ntop-1: base-1\nside-1: base-1\nlow-1\nhigh-1: low-1 base-1", {"top-1", "side-1", "high-1"});
  DeclareHere({"top-1"});
  TestWorker worker("w1", farm());
  BuildAll(worker);
  Write("base-2\ntop-2: base-2\nside-1: base-2\nlow-1\nhigh-1: low-1 base-2", {"top-2", "side-1", "high-1"});
  DeclareHere({"top-2", "missing"});
  const auto extended = Extend(*farm().DeclaredOf("m"), {"package=side-1", "package=high-1", "package=absent"}, "x86_64-linux");
  ASSERT_TRUE(extended.ok()) << extended.status();
  const PlanView plan = PlanOf(extended->get());
  EXPECT_THAT(plan.totals, ElementsAre(Pair("impossible", 1), Pair("pending", 1)));
  EXPECT_EQ(plan.build, 2);
  EXPECT_EQ(plan.forecast.core_time, absl::Seconds(2));
  const PlanAddition& addition = *plan.addition;
  EXPECT_EQ(addition.with.build, 5);
  EXPECT_EQ(addition.difference.build, 3) << "base-2 is built anyway";
  EXPECT_THAT(addition.difference.totals, ElementsAre(Pair("impossible", 1), Pair("pending", 2)));
  EXPECT_EQ(addition.difference.forecast.steps, 3);
  EXPECT_EQ(addition.difference.forecast.unknown_steps, 3);
  ASSERT_EQ(addition.variants.size(), 3u);
  EXPECT_EQ(addition.variants[2].record.cause, Cause::kMissingAttribute);
}

TEST_F(PlanCostTest, AValueThatCannotBeAddedIsToldBeforeAnyWork) {
  Write("a", {"a"});
  DeclareHere({"a"});
  const auto extended = Extend(*farm().DeclaredOf("m"), {"cuda=13.1"}, "x86_64-linux");
  EXPECT_THAT(std::string(extended.status().message()), HasSubstr("does not declare the axis 'cuda'"));
}

class DerivedRunTest : public EvaluationRunTest {
 protected:
  DerivedRunTest() {
    Write("left\nright", {"left", "right"});
    evaluator_.ScriptChanged({"left", "right", "unwanted"});
    const std::string toml =
        absl::StrCat("name = \"m\"\nsource.path = \"", dir_ / "src",
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
  const std::string toml =
      absl::StrCat("name = \"m\"\nsource.path = \"", dir_ / "src",
                   "\"\n[axes]\ncuda = [\"12.1\"]\npackage = { changed_by = \"cudaSupport\", filter = [\"left\", \"right\"] }\n");
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
    run_ = std::make_unique<EvaluationRun>(EvaluationRun::Options{
        .coordinator = farm(), .source = source_, .evaluator = cached_, .closure = closure_, .presence = presence_,
        .catalogue = daemon_->catalogue, .import = import_});
  }
  // What the evaluator itself was asked since the last call.
  int64_t Evaluated() { return std::exchange(counts_["miss"], 0) + std::exchange(counts_["gone"], 0); }

  std::map<std::string, int64_t> counts_;
  std::unique_ptr<EvaluationCache> cache_ = *EvaluationCache::Open({.folder = dir_ / "evaluations"});
  CachedEvaluator cached_{{.evaluator = evaluator_, .cache = *cache_, .store_root = dir_.path(),
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
