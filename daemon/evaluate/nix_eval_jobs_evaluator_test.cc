// Beside what the conformance suite holds: who answers what.
#include "daemon/evaluate/nix_eval_jobs_evaluator.h"

#include <string>

#include "daemon/evaluate/eval_jobs_world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kTree[] = R"({ slice ? { }, ... }:
let ok = name: derivation { inherit name; system = "x86_64-linux"; builder = "/bin/sh"; };
in {
  good = ok "good" // { meta.license = { shortName = "CUDA EULA"; free = false; }; passthru.cudaSupport = true; };
  badMeta = ok "badMeta" // { meta = 1 + "a"; };
  throws = throw "no such luck"; types = 1 + "a"; loops = let x = x; in x; set = { a = 1; };
  deep = let f = n: 1 + f (n + 1); in f 0;
  python3Packages = { python.withPackages = f: ok "env"; it = ok "it"; };
})";

class NixEvalJobsEvaluatorTest : public testing::Test {
 protected:
  Answers Evaluate(const std::vector<std::string>& packages, bool environment = false) {
    Matrix matrix = SmallMatrix(packages);
    if (environment)
      matrix.checks.push_back(
          {.name = "imports", .variants = "*", .command = {"true"}, .environment = "python"});
    return Ask(world_.evaluator(), world_.nix.tree(), matrix);
  }
  static const Outcome& Of(const Answers& answers, const std::string& package) {
    return answers.by_id.at(package + "@cuda12.9-x86_64-linux");
  }
  // Whether Nix itself was asked for the rest.
  bool NixWasAsked() const { return FileExists(world_.nix.dir / "asked"); }
  // Before the first evaluation: notes when NixEvaluator's own driver runs.
  void NoteNix() {
    world_.nix.Install("nix-instantiate",
                       absl::StrCat("case \"$*\" in *shard.nix*) touch ", world_.nix.dir / "asked",
                                    ";; esac\n", NixWorld::TheReal("nix-instantiate")));
  }

  EvalJobsWorld world_{kTree};
};

TEST_F(NixEvalJobsEvaluatorTest, ItAnswersForGoodOnesAndForRefusalsAlone) {
  NoteNix();
  const Answers answers = Evaluate({"good", "throws", "types", "loops", "set", "goodd"});
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_EQ(Of(answers, "good").cause, Cause::kNone);
  EXPECT_EQ(Of(answers, "throws").cause, Cause::kThrow);
  EXPECT_EQ(Of(answers, "types").cause, Cause::kTypeError);
  EXPECT_EQ(Of(answers, "loops").cause, Cause::kRecursion);
  EXPECT_EQ(Of(answers, "set").cause, Cause::kNotADerivation);
  EXPECT_EQ(Of(answers, "goodd").cause, Cause::kMissingAttribute);
  EXPECT_EQ(Of(answers, "goodd").message, "attribute 'goodd' missing; there are good");
  EXPECT_FALSE(NixWasAsked());
}

TEST_F(NixEvalJobsEvaluatorTest, FactsAndEnvironmentsAreToldAndBadOnesLoseNoDerivation) {
  const Answers answers = Evaluate({"good", "badMeta", "python3Packages.it"}, true);
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  ASSERT_EQ(Of(answers, "good").facts.licences.size(), 1);
  EXPECT_EQ(Of(answers, "good").facts.licences[0].name, "CUDA EULA");
  EXPECT_EQ(Of(answers, "good").facts.cuda_support, true);
  EXPECT_THAT(Of(answers, "good").message, HasSubstr("no Python environment: no interpreter"));
  EXPECT_EQ(Of(answers, "badMeta").cause, Cause::kNone);
  EXPECT_TRUE(Of(answers, "badMeta").facts.licences.empty());
  EXPECT_THAT(Of(answers, "it").environment, HasSubstr("-env.drv"));
}

TEST_F(NixEvalJobsEvaluatorTest, WhatItLeavesWhenItDiesNixIsAskedFor) {
  NoteNix();
  world_.nix.Install("nix-eval-jobs", EvalJobsWorld::Program() + " | head -n 2; exit 1");
  const Answers answers = Evaluate({"deep", "good", "throws"});
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_TRUE(NixWasAsked());
  EXPECT_EQ(Of(answers, "deep").cause, Cause::kStackOverflow);
  EXPECT_EQ(Of(answers, "good").cause, Cause::kNone);
  EXPECT_EQ(Of(answers, "throws").cause, Cause::kThrow);
}

TEST_F(NixEvalJobsEvaluatorTest, OneThatPrintsGarbageOrNothingCostsOnlyTime) {
  world_.evaluator();
  world_.nix.Install("nix-eval-jobs", "head -c 100000 /dev/urandom; head -c 100000 /dev/urandom >&2; exit 3");
  const Answers answers = Evaluate({"good", "throws"});
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_EQ(Of(answers, "good").cause, Cause::kNone);
}

TEST_F(NixEvalJobsEvaluatorTest, OneThatSaysNothingForTooLongIsEnded) {
  world_.nix.options.variant_timeout = absl::Seconds(2);
  world_.evaluator();
  world_.nix.Install("nix-eval-jobs", "exec sleep 600");
  EXPECT_EQ(Of(Evaluate({"good"}), "good").cause, Cause::kNone);
}

TEST_F(NixEvalJobsEvaluatorTest, ItSeesNothingOfTheDisk) {
  ASSERT_TRUE(WriteFileAtomically(world_.nix.dir / "secret", "the cache's key").ok());
  ASSERT_TRUE(WriteFileAtomically(world_.nix.tree() + "/default.nix",
                                  absl::StrCat("{ ... }: { told = throw (builtins.readFile \"",
                                               world_.nix.dir / "secret", "\"); }"))
                  .ok());
  const Answers answers = Evaluate({"told"});
  EXPECT_EQ(Of(answers, "told").cause, Cause::kRule);
  EXPECT_THAT(Of(answers, "told").message, Not(HasSubstr("the cache's key")));
}

// As versions before 2.30 do.
TEST(NixEvalJobsEvaluatorOpenTest, AProgramThatUndoesTheRestrictionIsRefused) {
  NixWorld world;
  world.Install("nix-eval-jobs",
                "NIX_CONFIG=$(echo \"$NIX_CONFIG\" | sed s/restrict-eval.*//)\nexport NIX_CONFIG\nexec python3 " HYDRANT_SOURCE_DIR
                "/tests/fakes/nix_eval_jobs \"$@\"");
  auto nix = NixEvaluator::Open(world.options);
  const auto opened = NixEvalJobsEvaluator::Open({.bounds = world.options, .nix = **nix});
  EXPECT_TRUE(absl::IsFailedPrecondition(opened.status())) << opened.status();
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("it lets a tree read any file"));
}

TEST(NixEvalJobsEvaluatorOpenTest, AProgramThatDoesNotEvaluateIsRefusedWithItsWords) {
  NixWorld world;
  world.Install("nix-eval-jobs", "echo no such option >&2; exit 3");
  auto nix = NixEvaluator::Open(world.options);
  const auto opened = NixEvalJobsEvaluator::Open({.bounds = world.options, .nix = **nix});
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("does not evaluate here (exit 3): no such option"));
}

TEST(NixEvalJobsEvaluatorOpenTest, AProgramThatIsNotThereIsAnErrorThatNamesTheSetting) {
  NixWorld world;
  auto nix = NixEvaluator::Open(world.options);
  const auto opened =
      NixEvalJobsEvaluator::Open({.program = "no-such-eval-jobs", .bounds = world.options, .nix = **nix});
  EXPECT_TRUE(absl::IsFailedPrecondition(opened.status())) << opened.status();
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("[nix] evaluator = \"no-such-eval-jobs\": there is no such program in PATH"));
}

}  // namespace
}  // namespace hydrant
