// One bad variant loses no other: each way in which an evaluation can end, beside good ones, with real Nix.
#include <string>

#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/manual_clock.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr char kOk[] = R"(name: derivation { inherit name; system = "x86_64-linux"; builder = "/bin/sh"; })";

std::string Tree(const std::string& attributes) {
  return absl::StrCat("{ slice }: let ok = ", kOk, "; in { good = ok \"good\"; last = ok \"last\"; ",
                      attributes, " }");
}

std::string Id(const std::string& package) { return package + "@cuda12.9-x86_64-linux"; }

void ExpectGood(const Answers& answers, std::initializer_list<const char*> packages) {
  for (const char* package : packages) {
    const auto found = answers.by_id.find(Id(package));
    ASSERT_NE(found, answers.by_id.end()) << package;
    EXPECT_EQ(found->second.cause, Cause::kNone) << package << ": " << found->second.message;
    EXPECT_NE(found->second.derivation, "") << package;
  }
}

TEST(IsolationTest, EveryWayOfFailingBesideGoodOnes) {
  NixWorld world(Tree(R"(
    same = ok "good"; throws = throw "no such luck"; asserts = assert 1 == 2; ok "x"; types = 1 + "a";
    loops = let x = x; in x; aborts = abort "enough"; nocall = 3 4; deep = let f = n: 1 + f (n + 1); in f 0;
    nested.good3 = ok "good3"; "odd.name" = ok "odd"; notadrv = { a = 1; };)"));
  const Answers answers =
      world.Evaluate(SmallMatrix({"good", "throws", "asserts", "types", "missing", "loops", "aborts",
                                  "nocall", "deep", "last", "same", "nested.good3", "notadrv", "odd.name"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  ExpectGood(answers, {"good", "last", "same", "nested.good3", "odd.name"});
  const std::pair<const char*, const char*> expected[] = {
      {"throws", "throw"},      {"asserts", "assertion"},   {"types", "type_error"},
      {"loops", "recursion"},   {"aborts", "abort"},        {"missing", "missing_attribute"},
      {"nocall", "type_error"}, {"deep", "stack_overflow"}, {"notadrv", "not_a_derivation"}};
  for (const auto& [package, cause] : expected) {
    EXPECT_EQ(answers.Cause(Id(package)), cause) << package << ": " << answers.by_id.at(Id(package)).message;
    EXPECT_NE(answers.by_id.at(Id(package)).message, "") << package;
  }
}

TEST(IsolationTest, OneThatNeedsMoreMemoryThanTheBound) {
  NixWorld world(Tree("big = builtins.foldl' (a: b: a ++ [ b ] ++ a) [ ] (builtins.genList (x: x) 60);"));
  world.options.memory = 64'000'000;
  const Answers answers = world.Evaluate(SmallMatrix({"good", "big", "last"}));
  ExpectGood(answers, {"good", "last"});
  EXPECT_EQ(answers.Cause(Id("big")), "evaluator_out_of_memory");
  EXPECT_THAT(answers.by_id.at(Id("big")).message, HasSubstr("64 MB"));
}

TEST(IsolationTest, ManyThatTogetherNeedMoreThanTheBoundAreAllGood) {
  NixWorld world(Tree(R"(some = builtins.listToAttrs (builtins.genList (i: let n = "n${toString i}"; in {
      name = n;
      value = let held = builtins.genList (x: x + i) 400000; in
        (ok n) // { inherit held; drvPath = builtins.deepSeq held (ok n).drvPath; };
    }) 8);)"));
  world.options.memory = 64'000'000;
  world.Install("nix-instantiate",
                "echo >>" + (world.dir / "starts") + "\n" + world.TheReal("nix-instantiate"));
  const Answers answers = world.Evaluate(
      SmallMatrix({"some.n0", "some.n1", "some.n2", "some.n3", "some.n4", "some.n5", "some.n6", "some.n7"}));
  EXPECT_GT(ReadFile(world.dir / "starts")->size(), 1);
  ExpectGood(answers, {"some.n0", "some.n3", "some.n7"});
}

// The clock goes on by so much at the first outcome.
Answers EvaluateWithJump(NixWorld& world, const Matrix& matrix, absl::Duration jump) {
  ManualClock clock;
  world.options.clock = &clock;
  return Ask(world.evaluator(), world.tree(), matrix, "e1", false, [&, jumped = false]() mutable {
    if (!std::exchange(jumped, true)) clock.Advance(jump);
  });
}

TEST(IsolationTest, OneThatNeverEnds) {
  NixWorld world(Tree(
      "endless = builtins.foldl' (a: x: builtins.foldl' (b: y: b + y) a (builtins.genList (z: z) 1000000)) 0 "
      "(builtins.genList (z: z) 1000000);"));
  const Answers answers =
      EvaluateWithJump(world, SmallMatrix({"good", "endless", "last"}), absl::Seconds(61));
  ExpectGood(answers, {"good", "last"});
  EXPECT_EQ(answers.Cause(Id("endless")), "evaluator_timeout");
  EXPECT_THAT(answers.by_id.at(Id("endless")).message, HasSubstr("1m ([nix] variant_timeout)"));
}

TEST(IsolationTest, AnEvaluationThatIsLateKeepsWhatWasAnsweredAndNamesTheRest) {
  NixWorld world(Tree(
      R"(refused = throw "words"; endless = builtins.foldl' (a: x: builtins.foldl' (b: y: b + y) a (builtins.genList (z: z) 1000000)) 0
      (builtins.genList (z: z) 1000000);)"));
  world.options.evaluation_timeout = absl::Minutes(10);
  world.options.variant_timeout = absl::Hours(1);
  const Answers answers =
      EvaluateWithJump(world, SmallMatrix({"good", "refused", "endless", "last"}), absl::Minutes(10));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  ExpectGood(answers, {"good"});
  EXPECT_EQ(answers.Cause(Id("refused")), "throw");
  for (const char* package : {"endless", "last"}) {
    EXPECT_EQ(answers.Cause(Id(package)), "evaluator_timeout") << package;
    EXPECT_THAT(answers.by_id.at(Id(package)).message, HasSubstr("10m ([nix] evaluation_timeout)"))
        << package;
  }
}

TEST(IsolationTest, OneThatTracesGarbageAndTheDriversOwnMarks) {
  NixWorld world(
      Tree(R"(noisy = builtins.trace "@R {\"id\":\"x\"}" (builtins.trace (builtins.concatStringsSep ""
    (builtins.genList (x: "error: out of memory ") 100000)) (builtins.trace "@Z" (ok "noisy")));)"));
  const Answers answers = world.Evaluate(SmallMatrix({"good", "noisy", "last"}));
  ExpectGood(answers, {"good", "noisy", "last"});
}

TEST(IsolationTest, ABadMetaLosesNothing) {
  NixWorld world(Tree(
      R"(bad = ok "bad" // { meta = 1 + "a"; }; worse = ok "worse" // { meta.broken = let x = x; in x; };)"));
  ExpectGood(world.Evaluate(SmallMatrix({"good", "bad", "worse", "last"})), {"good", "bad", "worse", "last"});
}

TEST(IsolationTest, ImportFromDerivationIsForbiddenUnlessAllowed) {
  NixWorld world(Tree("ifd = import (ok \"x\");"));
  const Answers answers = world.Evaluate(SmallMatrix({"ifd", "good"}));
  ExpectGood(answers, {"good"});
  EXPECT_EQ(answers.Cause(Id("ifd")), "ifd_forbidden");
}

TEST(IsolationTest, ARecipeThatDoesNotParseIsTheFaultOfEveryVariant) {
  NixWorld world;
  Matrix matrix = SmallMatrix({"good", "last"}, {"12.6", "12.9"});
  matrix.nixpkgs.recipe_text = "{ nixpkgs, slice }: ;";
  const Answers answers = world.Evaluate(matrix);
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  for (const auto& [id, outcome] : answers.by_id) {
    EXPECT_EQ(outcome.cause, Cause::kSyntaxError) << id;
    EXPECT_THAT(outcome.message, HasSubstr("syntax error")) << id;
    EXPECT_THAT(outcome.message, HasSubstr("(recipe.nix:1:21)")) << id;
  }
}

TEST(IsolationTest, ASetThatThrowsIsTheFaultOfEveryVariant) {
  NixWorld world("{ slice }: throw \"this tree is closed\"");
  const Answers answers = world.Evaluate(SmallMatrix({"good", "last"}));
  for (const char* package : {"good", "last"}) {
    EXPECT_EQ(answers.Cause(Id(package)), "throw");
    EXPECT_EQ(answers.by_id.at(Id(package)).message, "this tree is closed");
  }
}

TEST(IsolationTest, ASetThatIsNoneHasNoAttributes) {
  NixWorld world("{ slice }: 3");
  EXPECT_EQ(world.Evaluate(SmallMatrix({"good"})).Cause(Id("good")), "missing_attribute");
}

}  // namespace
}  // namespace hydrant
