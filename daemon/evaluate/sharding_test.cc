// How many processes and imports an evaluation takes, and when its outcomes come, with real Nix.
#include <stdlib.h>

#include <atomic>
#include <string>

#include "absl/strings/str_split.h"
#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

constexpr char kOk[] = R"(name: derivation { inherit name; system = "x86_64-linux"; builder = "/bin/sh"; })";

std::string Tree(const std::string& attributes) {
  return absl::StrCat("{ slice ? { }, ... }: let ok = ", kOk, "; in builtins.trace \"imported\" { ",
                      attributes, " }");
}

// Notes each start of a program and what Nix says beside its results.
class Noted {
 public:
  explicit Noted(NixWorld& world) : log_(world.dir / "log") {
    for (const std::string program : {"nix-instantiate", "nix"}) {
      // Each line is in the log before the evaluator can read it: whoever has its answers may end all of
      // this.
      world.Install(
          program,
          absl::StrCat("echo start-", program, " >> ", log_, "\n(PATH=", getenv("PATH"), " exec ", program,
                       " \"$@\") 2>&1 >/dev/null | while IFS= read -r line; do\n",
                       "  printf '%s\\n' \"$line\" >> ", log_, "\n  printf '%s\\n' \"$line\" >&2\ndone\n"));
    }
  }
  int Count(const std::string& text) const {
    const std::vector<std::string> parts = absl::StrSplit(ReadFile(log_).value_or(""), text);
    return static_cast<int>(parts.size()) - 1;
  }

 private:
  const std::string log_;
};

std::vector<std::string> Cudas(int count) {
  std::vector<std::string> cudas;
  for (int i = 0; i < count; ++i) cudas.push_back(absl::StrCat("12.", i));
  return cudas;
}

void ExpectAllGood(const Answers& answers) {
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  for (const auto& [id, outcome] : answers.by_id) EXPECT_EQ(outcome.cause, Cause::kNone) << outcome.message;
}

TEST(ShardingTest, ManyImportsTakeAProcessOfEachEvaluator) {
  NixWorld world(Tree("a = ok \"a\"; b = ok \"b\";"));
  world.options.evaluators = 1;
  const Noted noted(world);
  ExpectAllGood(world.Evaluate(SmallMatrix({"a", "b"}, Cudas(6))));
  EXPECT_EQ(noted.Count("start-nix-instantiate"), 1);
  EXPECT_EQ(noted.Count("trace: imported"), 6);
}

TEST(ShardingTest, AProcessIsReplacedAfterFifteenImports) {
  NixWorld world(Tree("a = ok \"a\";"));
  world.options.evaluators = 1;
  const Noted noted(world);
  ExpectAllGood(world.Evaluate(SmallMatrix({"a"}, Cudas(16))));
  EXPECT_EQ(noted.Count("start-nix-instantiate"), 2);
}

TEST(ShardingTest, PythonSetsOfABuiltInRecipeShareOneImport) {
  NixWorld world(
      Tree("python312Packages.p = ok \"p12\"; python313Packages.p = ok \"p13\"; cudaPackages_12_9 = { };"));
  const Noted noted(world);
  Matrix matrix = SmallMatrix({"python3Packages.p"});
  matrix.nixpkgs.recipe = "2022";
  matrix.nixpkgs.recipe_text.clear();
  matrix.axes.push_back({.name = "python", .values = {{{"python312"}}, {{"python313"}}}});
  const Answers answers = world.Evaluate(matrix);
  ExpectAllGood(answers);
  EXPECT_EQ(noted.Count("trace: imported"), 1);
  ASSERT_EQ(answers.by_id.size(), 2);
  EXPECT_THAT(answers.by_id.begin()->second.derivation, HasSubstr("-p12.drv"));
  EXPECT_THAT(answers.by_id.rbegin()->second.derivation, HasSubstr("-p13.drv"));
}

TEST(ShardingTest, AfterTwoDeathsAReplDoesTheRestInOneImport) {
  NixWorld world(
      Tree(R"(a = 1 + "x"; b = 1 + "x"; c = 1 + "x"; d = let x = x; in x; e = throw "closed"; f = ok "f";
      g = { a = 1; }; h.i = ok "i";)"));
  const Noted noted(world);
  const Answers answers = world.Evaluate(SmallMatrix({"a", "b", "c", "d", "e", "f", "g", "h.i", "nosuch"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_EQ(noted.Count("start-nix-instantiate"), 2);
  EXPECT_EQ(noted.Count("start-nix\n"), 1);
  EXPECT_EQ(noted.Count("trace: imported"), 3);
  const std::pair<const char*, const char*> expected[] = {{"a", "type_error"},
                                                          {"b", "type_error"},
                                                          {"c", "type_error"},
                                                          {"d", "recursion"},
                                                          {"e", "throw"},
                                                          {"f", ""},
                                                          {"h.i", ""},
                                                          {"g", "not_a_derivation"},
                                                          {"nosuch", "missing_attribute"}};
  for (const auto& [package, cause] : expected) {
    EXPECT_EQ(answers.Cause(std::string(package) + "@cuda12.9-x86_64-linux"), cause) << package;
  }
  EXPECT_EQ(answers.by_id.at("e@cuda12.9-x86_64-linux").message, "closed");
}

TEST(ShardingTest, AStackOverflowEndsOneReplOnly) {
  NixWorld world(
      Tree(R"(a = 1 + "x"; b = 1 + "x"; deep = let f = n: 1 + f (n + 1); in f 0; good = ok "good";)"));
  const Answers answers = world.Evaluate(SmallMatrix({"a", "b", "deep", "good"}));
  EXPECT_EQ(answers.Cause("deep@cuda12.9-x86_64-linux"), "stack_overflow");
  EXPECT_EQ(answers.Cause("good@cuda12.9-x86_64-linux"), "");
}

TEST(ShardingTest, WithoutAReplTheDriverGoesOnAlone) {
  NixWorld world(Tree(R"(a = 1 + "x"; b = 1 + "x"; c = 1 + "x"; good = ok "good";)"));
  world.Install("nix", "exit 1");
  const Answers answers = world.Evaluate(SmallMatrix({"a", "b", "c", "good"}));
  EXPECT_EQ(answers.Cause("c@cuda12.9-x86_64-linux"), "type_error");
  EXPECT_EQ(answers.Cause("good@cuda12.9-x86_64-linux"), "");
}

TEST(ShardingTest, OutcomesComeWhileOthersOfTheirImportAreStillEvaluated) {
  if (getenv("NEWER_NIX_BIN") != nullptr)
    GTEST_SKIP() << "a newer Nix reads of a file as much as its size says: of a pipe nothing";
  NixWorld world(Tree("first = ok \"first\"; waits = import ./waits.nix ok;"));
  // A named pipe: the evaluation of `waits` goes on when somebody writes to it, which the first outcome does.
  const std::string pipe = world.tree() + "/waits.nix";
  world.Install("nix-instantiate", absl::StrCat("mkfifo ", pipe, "\n", NixWorld::TheReal("nix-instantiate")));
  bool first_came_alone = false;
  std::map<std::string, int> seen;
  const auto expansion = ExpandMatrix(SmallMatrix({"first", "waits"}), "x86_64-linux");
  const Matrix matrix = SmallMatrix({"first", "waits"});
  const EvaluationInput input{
      .tree = world.tree(), .matrix = matrix, .expansion = *expansion, .variants = {0, 1}, .root = "e1"};
  const std::atomic<bool> cancelled{false};
  const auto take = [&](const std::vector<Outcome>& outcomes) {
    first_came_alone |= outcomes.size() == 1 && outcomes[0].variant == 0;
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.cause, Cause::kNone) << outcome.message;
    }
    if (seen["calls"]++ == 0) {
      EXPECT_TRUE(WriteFileAtomically(world.dir / "said", "").ok());
      FILE* file = fopen(pipe.c_str(), "w");
      ASSERT_NE(file, nullptr);
      fputs("ok: ok \"waits\"", file);
      fclose(file);
    }
  };
  const absl::Status status = world.evaluator().Evaluate(input, take, cancelled);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(first_came_alone);
}

TEST(ShardingTest, ScatteredGivesTheSameOutcomes) {
  NixWorld world(Tree("a = ok \"a\"; b = ok \"b\"; c = throw \"closed\";"));
  world.options.scatter = true;
  const Noted noted(world);
  const Answers answers = world.Evaluate(SmallMatrix({"a", "b", "c"}, Cudas(2)));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_EQ(answers.Cause("c@cuda12.1-x86_64-linux"), "throw");
  EXPECT_EQ(noted.Count("start-nix-instantiate"), 2);
}

TEST(ShardingTest, WhatNeedsMoreThanAllMayUseTogetherSaysSoAndTheRestIsGood) {
  NixWorld world(
      Tree("big = builtins.foldl' (a: b: a ++ [ b ] ++ a) [ ] (builtins.genList (x: x) 60); "
           "good = ok \"good\"; last = ok \"last\";"));
  // Nix itself has no bound here: the watch has to see it.
  world.options.memory = 100'000'000;
  world.options.evaluators = 1;
  world.Install("nix-instantiate", "unset GC_MAXIMUM_HEAP_SIZE\n" + NixWorld::TheReal("nix-instantiate"));
  const Answers answers = world.Evaluate(SmallMatrix({"good", "big", "last"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  EXPECT_EQ(answers.Cause("big@cuda12.9-x86_64-linux"), "evaluator_out_of_memory");
  EXPECT_THAT(answers.by_id.at("big@cuda12.9-x86_64-linux").message, HasSubstr("100 MB"));
  EXPECT_EQ(answers.Cause("good@cuda12.9-x86_64-linux"), "");
  EXPECT_EQ(answers.Cause("last@cuda12.9-x86_64-linux"), "");
}

}  // namespace
}  // namespace hydrant
