// What every Evaluator promises, held against the real one and its twin.
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "daemon/evaluate/eval_jobs_world.h"
#include "daemon/evaluate/evaluation_fixture.h"
#include "daemon/evaluate/evaluator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_evaluator.h"

namespace hydrant {
namespace {

constexpr char kTree[] = R"({ slice }:
let ok = name: derivation { inherit name; system = slice.system; builder = "/bin/sh"; };
    cuda = if slice.cudaSupport or true then "cuda" else "cpu";
in {
  good = ok "good"; same = ok "good"; throws = throw "no such luck"; types = 1 + "a";
  python3Packages = { flagged = ok "flagged-${cuda}"; plain = ok "plain"; };
  switched = ok "switched-${cuda}";
})";

class World {
 public:
  virtual ~World() = default;
  virtual Evaluator& evaluator() = 0;
  virtual std::string tree() = 0;
};

class RealWorld final : public World {
 public:
  Evaluator& evaluator() override { return world_.evaluator(); }
  std::string tree() override { return world_.tree(); }

 private:
  NixWorld world_{kTree};
};

class PooledWorld final : public World {
 public:
  Evaluator& evaluator() override { return world_.evaluator(); }
  std::string tree() override { return world_.nix.tree(); }

 private:
  EvalJobsWorld world_{kTree};
};

class FakeWorld final : public World {
 public:
  FakeWorld() {
    const std::string stem = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-good";
    const Outcome good{.derivation = stem + ".drv", .outputs = {{"out", stem}}};
    evaluator_.Script("good", good);
    evaluator_.Script("same", good);
    evaluator_.ScriptChanged({"switched", "python3Packages.flagged"});
    evaluator_.Script("throws", {.cause = Cause::kThrow, .message = "no such luck"});
    evaluator_.Script("types", {.cause = Cause::kTypeError, .message = "cannot add a string to an integer"});
  }
  Evaluator& evaluator() override { return evaluator_; }
  std::string tree() override { return "/"; }

 private:
  FakeEvaluator evaluator_;
};

struct Kind {
  const char* name;
  std::function<std::unique_ptr<World>()> make;
};

class EvaluatorConformance : public testing::TestWithParam<Kind> {
 protected:
  Answers Evaluate(const Matrix& matrix, const std::string& root = "e1",
                   const std::atomic<bool>& cancelled = false, const std::function<void()>& on_call = {}) {
    return Ask(world_->evaluator(), world_->tree(), matrix, root, cancelled, on_call);
  }
  absl::StatusOr<DerivedList> Derive(const Matrix& matrix, const std::atomic<bool>& cancelled = false) {
    return AskList(world_->evaluator(), world_->tree(), matrix, cancelled);
  }
  const std::unique_ptr<World> world_ = GetParam().make();
};

TEST_P(EvaluatorConformance, EachVariantGetsItsOwnOutcome) {
  const Answers answers = Evaluate(SmallMatrix({"good", "throws", "types", "nosuch"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_EQ(answers.Cause("good@cuda12.9-x86_64-linux"), "");
  EXPECT_EQ(answers.Cause("throws@cuda12.9-x86_64-linux"), "throw");
  EXPECT_EQ(answers.Cause("types@cuda12.9-x86_64-linux"), "type_error");
  EXPECT_EQ(answers.Cause("nosuch@cuda12.9-x86_64-linux"), "missing_attribute");
}

TEST_P(EvaluatorConformance, AGoodOneHasADerivationAndOutputsAndNoMessage) {
  const Answers answers = Evaluate(SmallMatrix({"good"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  const Outcome& good = answers.by_id.at("good@cuda12.9-x86_64-linux");
  EXPECT_TRUE(good.derivation.ends_with("-good.drv")) << good.derivation;
  EXPECT_TRUE(good.outputs.at("out").ends_with("-good"));
  EXPECT_EQ(good.message, "");
}

TEST_P(EvaluatorConformance, ARefusalHasItsWordsAndNoDerivation) {
  const Answers answers = Evaluate(SmallMatrix({"throws"}));
  const Outcome& refused = answers.by_id.at("throws@cuda12.9-x86_64-linux");
  EXPECT_EQ(refused.message, "no such luck");
  EXPECT_EQ(refused.derivation, "");
  EXPECT_TRUE(refused.outputs.empty());
}

TEST_P(EvaluatorConformance, EqualPackagesShareTheirDerivationInEverySlice) {
  const Answers answers = Evaluate(SmallMatrix({"good", "same"}, {"12.6", "12.9"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  const std::string& one = answers.by_id.at("good@cuda12.6-x86_64-linux").derivation;
  EXPECT_EQ(answers.by_id.at("same@cuda12.6-x86_64-linux").derivation, one);
  EXPECT_EQ(answers.by_id.at("same@cuda12.9-x86_64-linux").derivation, one);
}

TEST_P(EvaluatorConformance, OutcomesComeOneCallAtATime) {
  std::atomic<int> inside{0};
  const Answers answers =
      Evaluate(SmallMatrix({"good", "throws"}, {"12.4", "12.6", "12.8", "12.9"}), "e1", false, [&] {
        EXPECT_EQ(++inside, 1);
        --inside;
      });
  EXPECT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_GT(answers.calls, 0);
}

TEST_P(EvaluatorConformance, NothingAskedIsNothingTaken) {
  Matrix matrix = SmallMatrix({"good"});
  matrix.exclude.push_back({.axes = {{"package", {"good"}}}, .reason = "for once"});
  const Answers answers = Evaluate(matrix);
  EXPECT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_EQ(answers.calls, 0);
}

TEST_P(EvaluatorConformance, CancelledBeforeItBegins) {
  const Answers answers = Evaluate(SmallMatrix({"good"}), "e1", true);
  EXPECT_TRUE(absl::IsCancelled(answers.status)) << answers.status;
  EXPECT_EQ(answers.calls, 0);
}

TEST_P(EvaluatorConformance, CancelledInTheMiddleEndsSoon) {
  std::atomic<bool> cancelled{false};
  const Answers answers =
      Evaluate(SmallMatrix({"good"}, {"12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6", "12.8"}), "e1",
               cancelled, [&] { cancelled = true; });
  EXPECT_TRUE(absl::IsCancelled(answers.status)) << answers.status;
  EXPECT_LT(answers.calls, 8);
}

TEST_P(EvaluatorConformance, TwiceGivesTheSame) {
  const Answers first = Evaluate(SmallMatrix({"good"}), "e1");
  const Answers second = Evaluate(SmallMatrix({"good"}), "e2");
  EXPECT_EQ(first.by_id.begin()->second.derivation, second.by_id.begin()->second.derivation);
  world_->evaluator().Release("e1");
  world_->evaluator().Release("e1");
  world_->evaluator().Release("never");
}

TEST_P(EvaluatorConformance, ARootThatLeadsElsewhereIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Evaluate(SmallMatrix({"good"}), "../x").status));
}

TEST_P(EvaluatorConformance, ADerivedListIsWhatTheSwitchChanges) {
  const auto list = Derive(DerivedMatrix({"*"}));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(list->packages, testing::ElementsAre("switched", "python3Packages.flagged"));
  EXPECT_FALSE(list->notes.empty());
  EXPECT_TRUE(list->unknown.empty());
}

TEST_P(EvaluatorConformance, ADerivedListKeepsWhatItsFilterMatches) {
  EXPECT_THAT(Derive(DerivedMatrix({"python3Packages.*"}))->packages,
              testing::ElementsAre("python3Packages.flagged"));
  EXPECT_THAT(Derive(DerivedMatrix({"@solvers"}))->packages, testing::IsEmpty());
}

TEST_P(EvaluatorConformance, ADerivedListCancelledOrOfNoSuchMatrix) {
  EXPECT_TRUE(absl::IsCancelled(Derive(DerivedMatrix({"*"}), true).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Derive(SmallMatrix({"good"})).status()));
}

INSTANTIATE_TEST_SUITE_P(All, EvaluatorConformance,
                         testing::Values(Kind{"Nix", [] { return std::unique_ptr<World>(new RealWorld); }},
                                         Kind{"NixEvalJobs",
                                              [] { return std::unique_ptr<World>(new PooledWorld); }},
                                         Kind{"Fake", [] { return std::unique_ptr<World>(new FakeWorld); }}),
                         [](const testing::TestParamInfo<Kind>& info) { return info.param.name; });

}  // namespace
}  // namespace hydrant
