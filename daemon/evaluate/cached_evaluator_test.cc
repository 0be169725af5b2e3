#include "daemon/evaluate/cached_evaluator.h"

#include <fcntl.h>
#include <sys/file.h>

#include <thread>

#include "daemon/evaluate/evaluation_fixture.h"
#include "daemon/evaluate/evaluation_key.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/subprocess.h"
#include "lib/base/unique_fd.h"
#include "tests/fakes/fake_evaluator.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string DrvOf(const std::string& name) {
  return "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-" + name + ".drv";
}

// Notes what it was asked, by variant id.
class AskedEvaluator final : public Evaluator {
 public:
  absl::Status Evaluate(const EvaluationInput& input, const std::function<void(std::vector<Outcome>)>& take,
                        const std::atomic<bool>& cancelled) override {
    std::function<void()> call;
    {
      MutexLock lock(mu_);
      call = std::exchange(meanwhile, nullptr);
      for (const size_t variant : input.variants) asked_.push_back(input.expansion.variants[variant].id);
    }
    if (call) call();
    return script.Evaluate(input, take, cancelled);
  }
  absl::StatusOr<DerivedList> DerivePackages(const EvaluationInput& input,
                                             const std::atomic<bool>& cancelled) override {
    ++lists;
    absl::StatusOr<DerivedList> list = script.DerivePackages(input, cancelled);
    if (list.ok()) list->unknown = unknown;
    return list;
  }
  void Release(const std::string& root) override { script.Release(root); }
  // Since the last call.
  std::vector<std::string> Asked() {
    MutexLock lock(mu_);
    return std::exchange(asked_, {});
  }
  FakeEvaluator script;
  std::function<void()> meanwhile;  // in the next evaluation, once
  std::atomic<int> lists = 0;       // that were derived
  std::vector<std::string> unknown;

 private:
  Mutex mu_;
  std::vector<std::string> asked_ ABSL_GUARDED_BY(mu_);
};

class CachedEvaluatorTest : public testing::Test {
 protected:
  CachedEvaluatorTest() {
    EXPECT_TRUE(MakeDirectories(dir_ / "nix/store").ok());
    EXPECT_TRUE(MakeDirectories(dir_ / "nix/var/nix").ok());
    for (const char* name : {"a", "b", "c"}) Make(name);
    inner_.script.Script("bad", {.cause = Cause::kThrow, .message = "refused"});
    inner_.script.Script("dead", {.cause = Cause::kEvaluatorOutOfMemory, .message = "out of memory"});
    Reopen();
  }
  void Reopen() {
    cached_.reset();
    cache_ = *EvaluationCache::Open({.folder = dir_ / "cache"});
    cached_ = std::make_unique<CachedEvaluator>(CachedEvaluator::Options{
        .evaluator = inner_,
        .cache = *cache_,
        .store_root = dir_.path(),
        .identity = [this] { return identity_; },
        .observe = [this](std::string_view result, int64_t n) { counts_[std::string(result)] += n; }});
  }
  void Make(const std::string& name) {
    ASSERT_TRUE(WriteFileAtomically(dir_.path() + DrvOf(name), "Derive").ok());
    inner_.script.Script(name, {.derivation = DrvOf(name), .outputs = {{"out", "/nix/store/out"}}});
  }
  Answers Evaluate(const Matrix& matrix) {
    return Ask(*cached_, "/tree", matrix, "e1", cancelled_, {}, revision_);
  }

  TestDir dir_;
  AskedEvaluator inner_;
  std::unique_ptr<EvaluationCache> cache_;
  absl::StatusOr<std::string> identity_ = "nix 2.8";
  std::unique_ptr<CachedEvaluator> cached_;
  std::string revision_ = "r1";
  std::map<std::string, int64_t> counts_;
  std::atomic<bool> cancelled_ = false;
};

TEST_F(CachedEvaluatorTest, TheSameAgainAsksNobody) {
  const Matrix matrix = SmallMatrix({"a", "bad"}, {"12.6", "12.9"});
  const Answers first = Evaluate(matrix);
  EXPECT_EQ(inner_.Asked().size(), 4u);
  Reopen();
  const Answers second = Evaluate(matrix);
  EXPECT_THAT(inner_.Asked(), IsEmpty());
  EXPECT_EQ(second.calls, 1);
  for (const auto& [id, outcome] : first.by_id) {
    const Outcome& again = second.by_id.at(id);
    EXPECT_EQ(again.cause, outcome.cause);
    EXPECT_EQ(again.message, outcome.message);
    EXPECT_EQ(again.derivation, outcome.derivation);
    EXPECT_EQ(again.outputs, outcome.outputs);
  }
  EXPECT_EQ(counts_["miss"], 4);
  EXPECT_EQ(counts_["hit"], 4);
}

TEST_F(CachedEvaluatorTest, OfALongerMatrixOnlyWhatIsNewIsEvaluated) {
  Evaluate(SmallMatrix({"a", "b"}));
  inner_.Asked();
  Evaluate(SmallMatrix({"c", "b", "a"}, {"12.9", "13.0"}));
  EXPECT_THAT(inner_.Asked(), ElementsAre("c@cuda12.9-x86_64-linux", "c@cuda13.0-x86_64-linux",
                                          "b@cuda13.0-x86_64-linux", "a@cuda13.0-x86_64-linux"));
  Evaluate(SmallMatrix({"a", "b", "c"}, {"12.9", "13.0"}));
  EXPECT_THAT(inner_.Asked(), IsEmpty());
}

TEST_F(CachedEvaluatorTest, WhatKilledAnEvaluatorIsEvaluatedAgainAndNothingElse) {
  Evaluate(SmallMatrix({"a", "dead", "bad"}));
  inner_.Asked();
  Make("dead");
  EXPECT_EQ(Evaluate(SmallMatrix({"a", "dead", "bad"})).Cause("dead@cuda12.9-x86_64-linux"), "");
  EXPECT_THAT(inner_.Asked(), ElementsAre("dead@cuda12.9-x86_64-linux"));
}

TEST_F(CachedEvaluatorTest, EverythingThatDecidesAnOutcomeIsInTheKey) {
  const Matrix matrix = SmallMatrix({"a"});
  std::vector<Matrix> others(7, matrix);
  others[0].nixpkgs.recipe_text += " ";
  others[1].nixpkgs.allow = {"unfree", "broken"};
  others[2].nixpkgs.config_json = R"({"cudaSupport":true})";
  others[3].nixpkgs.overlays = {{"x.nix", "self: super: { }"}};
  others[4].nixpkgs.ifd = true;
  others[5].nixpkgs.recipe_text.clear();
  others[6].nixpkgs.probe = {"hygiene"};
  Evaluate(matrix);
  inner_.Asked();
  for (const Matrix& other : others) {
    Evaluate(other);
    EXPECT_EQ(inner_.Asked().size(), 1u);
  }
  revision_ = "r2";
  Evaluate(matrix);
  EXPECT_EQ(inner_.Asked().size(), 1u);
  identity_ = "nix 2.9";
  Evaluate(matrix);
  EXPECT_EQ(inner_.Asked().size(), 1u);
}

TEST_F(CachedEvaluatorTest, TheTextOfAnOverlaySetIsInTheKeysOfItsOwnSlices) {
  Matrix matrix = SmallMatrix({"a"});
  matrix.nixpkgs.overlay_sets = {{"one", {{"x.nix", "1"}}}, {"two", {{"x.nix", "2"}}}};
  matrix.nixpkgs.config_sets = {{"lto", "{}"}};
  matrix.axes.push_back({.name = "overlays", .values = {{{"default"}}, {{"one"}}, {{"two"}}}});
  matrix.axes.push_back({.name = "config", .values = {{{"default"}}, {{"lto"}}}});
  Evaluate(matrix);
  inner_.Asked();
  matrix.nixpkgs.overlay_sets["one"][0].text += " ";
  Evaluate(matrix);
  EXPECT_THAT(inner_.Asked(), ElementsAre("a@cuda12.9-overlays=one-x86_64-linux",
                                          "a@cuda12.9-config=lto-overlays=one-x86_64-linux"));
  matrix.nixpkgs.config_sets["lto"] = R"({"a":1})";
  Evaluate(matrix);
  EXPECT_EQ(inner_.Asked().size(), 3u);
}

TEST_F(CachedEvaluatorTest, WithImportFromDerivationAnErrorMayBeABuilders) {
  Matrix matrix = SmallMatrix({"a", "bad"});
  matrix.nixpkgs.ifd = true;
  Evaluate(matrix);
  inner_.Asked();
  Evaluate(matrix);
  EXPECT_THAT(inner_.Asked(), ElementsAre("bad@cuda12.9-x86_64-linux"));
}

TEST_F(CachedEvaluatorTest, ADerivationThatWasCollectedIsEvaluatedAgain) {
  Evaluate(SmallMatrix({"a", "b"}));
  inner_.Asked();
  ASSERT_EQ(unlink((dir_.path() + DrvOf("a")).c_str()), 0);
  Evaluate(SmallMatrix({"a", "b"}));
  EXPECT_THAT(inner_.Asked(), ElementsAre("a@cuda12.9-x86_64-linux"));
  EXPECT_EQ(counts_["gone"], 1);
}

TEST_F(CachedEvaluatorTest, WhileGarbageIsCollectedNoDerivationIsTrusted) {
  Evaluate(SmallMatrix({"a", "bad"}));
  inner_.Asked();
  const UniqueFd lock(open((dir_ / "nix/var/nix/gc.lock").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  Evaluate(SmallMatrix({"a", "bad"}));
  EXPECT_THAT(inner_.Asked(), ElementsAre("a@cuda12.9-x86_64-linux"));
}

TEST_F(CachedEvaluatorTest, WithoutARevisionOrANixNothingIsRemembered) {
  revision_ = "";
  Evaluate(SmallMatrix({"a"}));
  Evaluate(SmallMatrix({"a"}));
  EXPECT_EQ(inner_.Asked().size(), 2u);
  revision_ = "r1";
  identity_ = absl::FailedPreconditionError("no Nix");
  Evaluate(SmallMatrix({"a"}));
  Evaluate(SmallMatrix({"a"}));
  EXPECT_EQ(inner_.Asked().size(), 2u);
}

TEST_F(CachedEvaluatorTest, ASliceThatTwoAskForAtOnceIsEvaluatedOnce) {
  std::thread other;
  Answers others;
  inner_.meanwhile = [&] {
    other = std::thread([&] {
      others = Ask(*cached_, "/tree", SmallMatrix({"a", "b"}), "e2", cancelled_, {}, "r1");
    });
  };
  const Answers mine = Evaluate(SmallMatrix({"a", "b"}));
  other.join();
  EXPECT_EQ(mine.by_id.size(), 2u);
  EXPECT_EQ(others.by_id.size(), 2u);
  EXPECT_EQ(inner_.Asked().size(), 2u);
}

TEST_F(CachedEvaluatorTest, OneThatIsCancelledLeavesItsSliceToOthers) {
  inner_.meanwhile = [&] { cancelled_ = true; };
  EXPECT_TRUE(absl::IsCancelled(Evaluate(SmallMatrix({"a"})).status));
  cancelled_ = false;
  EXPECT_EQ(Evaluate(SmallMatrix({"a"})).Cause("a@cuda12.9-x86_64-linux"), "");
}

class CachedListTest : public CachedEvaluatorTest {
 protected:
  CachedListTest() { inner_.script.ScriptChanged({"a", "python3Packages.b"}); }
  std::vector<std::string> List(const Matrix& matrix) {
    return AskList(*cached_, "/tree", matrix, cancelled_, revision_)->packages;
  }
};

TEST_F(CachedListTest, ADerivedListIsRemembered) {
  EXPECT_THAT(List(DerivedMatrix({"*"})), ElementsAre("a", "python3Packages.b"));
  Reopen();
  EXPECT_THAT(List(DerivedMatrix({"*"})), ElementsAre("a", "python3Packages.b"));
  EXPECT_EQ(inner_.lists, 1);
}

TEST_F(CachedListTest, SwitchFilterGroupsAndRevisionAreInItsKey) {
  std::vector<Matrix> others(5, DerivedMatrix({"@g"}));
  others[1].derived->changed_by = "rocmSupport";
  others[2].derived->filter = {"*"};
  others[3].groups["g"] = {"a"};
  others[4].axes[0].values = {{{"12.6"}}};
  for (const Matrix& other : others) List(other);
  revision_ = "r2";
  List(others[0]);
  EXPECT_EQ(inner_.lists, 6);
}

TEST_F(CachedListTest, AListWithUnknownNamesOrImportsFromDerivationIsNot) {
  inner_.unknown = {"a"};
  List(DerivedMatrix({"*"}));
  inner_.unknown.clear();
  List(DerivedMatrix({"*"}));
  EXPECT_EQ(inner_.lists, 2);
  Matrix matrix = DerivedMatrix({"*"});
  matrix.nixpkgs.ifd = true;
  List(matrix);
  List(matrix);
  EXPECT_EQ(inner_.lists, 4);
}

// With the stock Nix.
TEST(CachedNixTest, AHitsDerivationIsNotCollectedWhileItIsTaken) {
  NixWorld world(
      R"({ slice }: { good = derivation { name = "good"; system = slice.system; builder = "/bin/sh"; }; })");
  auto cache = *EvaluationCache::Open({.folder = world.dir / "cache"});
  std::map<std::string, int64_t> counts;
  CachedEvaluator cached(
      {.evaluator = world.evaluator(),
       .cache = *cache,
       .store_root = world.options.nix.store_root,
       .identity = [&] { return EvaluatorIdentity(world.options.nix); },
       .observe = [&](std::string_view result, int64_t n) { counts[std::string(result)] += n; }});
  const auto evaluate = [&](const std::string& root, const std::function<void()>& on_call = {}) {
    const Answers answers = Ask(cached, world.tree(), SmallMatrix({"good"}), root, false, on_call, "r1");
    EXPECT_TRUE(answers.status.ok()) << answers.status;
    return answers.by_id.begin()->second.derivation;
  };
  std::unique_ptr<Subprocess> collector;
  const auto collect = [&] {
    collector = *Subprocess::Start(
        {.argv = {"nix-store", "--gc"}, .env = CommandEnvironment(world.options.nix), .clear_env = true});
  };
  const std::string file = world.options.nix.store_root + evaluate("e1");
  cached.Release("e1");
  collect();
  ASSERT_TRUE(collector->Wait().ok());
  EXPECT_FALSE(FileExists(file));
  evaluate("e2");
  EXPECT_EQ(std::exchange(counts["gone"], 0), 1);
  cached.Release("e2");
  evaluate("e2", [&] {
    collect();
    EXPECT_FALSE(collector->WaitFor(absl::Seconds(1))) << "it waits for us";
    EXPECT_TRUE(FileExists(file));
  });
  EXPECT_EQ(counts["hit"], 1);
  ASSERT_TRUE(collector->Wait().ok());
  EXPECT_FALSE(FileExists(file));
  evaluate("e3");
  EXPECT_EQ(counts["gone"], 1);
  EXPECT_TRUE(FileExists(file));
}

}  // namespace
}  // namespace hydrant
