#include "daemon/evaluate/nix_evaluator.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/driver_files.h"
#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

constexpr char kTree[] = R"({ slice }:
let ok = name: derivation { inherit name; system = slice.system; builder = "/bin/sh"; };
in { good = ok "good"; last = ok "last"; })";

TEST(NixEvaluatorTest, CarriesTheDriverAsItIsInTheTree) {
  for (const DriverFile& file : DriverFiles()) {
    EXPECT_EQ(*ReadFile(HYDRANT_SOURCE_DIR "/daemon/evaluate/" + std::string(file.path)), file.text);
  }
}

TEST(NixEvaluatorTest, GarbageCollectionTakesADerivationOnlyAfterItsRelease) {
  NixWorld world(kTree);
  const std::string derivation = world.Evaluate(SmallMatrix({"good"})).by_id.begin()->second.derivation;
  const std::string file = world.options.nix.store_root + derivation;
  const auto collect = [&] {
    return hydrant::Run(
        {.argv = {"nix-store", "--gc"}, .env = CommandEnvironment(world.options.nix), .clear_env = true});
  };
  ASSERT_TRUE(collect()->status.ok());
  EXPECT_TRUE(FileExists(file));
  world.evaluator().Release("e1");
  ASSERT_TRUE(collect()->status.ok());
  EXPECT_FALSE(FileExists(file));
}

TEST(NixEvaluatorTest, AMissingTreeIsNotFoundByName) {
  NixWorld world;
  const Answers answers = Ask(world.evaluator(), world.dir / "nosuch", SmallMatrix({"good"}));
  EXPECT_TRUE(absl::IsNotFound(answers.status)) << answers.status;
  EXPECT_THAT(std::string(answers.status.message()), HasSubstr(world.dir / "nosuch"));
}

TEST(NixEvaluatorTest, ARecipeThatIsNotThereNamesThoseThatAre) {
  NixWorld world;
  Matrix matrix = SmallMatrix({"good"});
  matrix.nixpkgs = {.recipe = "1999"};
  const Answers answers = world.Evaluate(matrix);
  EXPECT_TRUE(absl::IsInvalidArgument(answers.status)) << answers.status;
  EXPECT_THAT(std::string(answers.status.message()), HasSubstr("it has 2020, 2022, 2025, auto and"));
}

TEST(NixEvaluatorTest, WithoutNixTheErrorSaysWhatInstallsIt) {
  NixWorld world;
  world.options.nix.search_path = world.dir / "nothing";
  const Answers answers = world.Evaluate(SmallMatrix({"good"}));
  EXPECT_TRUE(absl::IsFailedPrecondition(answers.status)) << answers.status;
  EXPECT_THAT(std::string(answers.status.message()), HasSubstr("deploy/install-deps"));
}

TEST(NixEvaluatorTest, AStoreThatCannotBeOpenedIsToldOnce) {
  NixWorld world(kTree);
  ASSERT_TRUE(WriteFileAtomically(world.options.nix.store_root, "a file").ok());
  const Answers answers = world.Evaluate(SmallMatrix({"good"}, {"12.6", "12.9"}));
  EXPECT_TRUE(absl::IsFailedPrecondition(answers.status)) << answers.status;
}

TEST(NixEvaluatorTest, AnEvaluatorThatPrintsGarbageIsUnknownWithItsLastWords) {
  NixWorld world(kTree);
  world.Install("nix-instantiate", "head -c 200000 /dev/urandom >&2; echo 'what is this' >&2");
  const Answers answers = world.Evaluate(SmallMatrix({"good", "last"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  for (const auto& [id, outcome] : answers.by_id) {
    EXPECT_EQ(outcome.cause, Cause::kUnknown) << id;
    EXPECT_THAT(outcome.message, HasSubstr("what is this")) << id;
  }
}

TEST(NixEvaluatorTest, AnEvaluatorThatIsKilledOnceTriesAgain) {
  NixWorld world(kTree);
  world.Install("nix-instantiate", "if mkdir " + (world.dir / "once") +
                                       " 2>/dev/null; then kill -9 $$; fi\n" +
                                       world.TheReal("nix-instantiate"));
  const Answers answers = world.Evaluate(SmallMatrix({"good", "last"}));
  for (const auto& [id, outcome] : answers.by_id)
    EXPECT_EQ(outcome.cause, Cause::kNone) << id << ": " << outcome.message;
}

TEST(NixEvaluatorTest, AnEvaluatorThatIsAlwaysKilledIsOutOfMemory) {
  NixWorld world(kTree);
  world.Install("nix-instantiate", "kill -9 $$");
  const Answers answers = world.Evaluate(SmallMatrix({"good", "last"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  for (const auto& [id, outcome] : answers.by_id)
    EXPECT_EQ(outcome.cause, Cause::kEvaluatorOutOfMemory) << id;
}

TEST(NixEvaluatorTest, ARefusalWhoseWordsCannotBeHadIsStillARefusal) {
  NixWorld world("{ slice }: { refused = throw \"words\"; }");
  world.Install("nix", "exit 1");
  const Answers answers = world.Evaluate(SmallMatrix({"refused"}));
  EXPECT_EQ(answers.Cause("refused@cuda12.9-x86_64-linux"), "throw");
}

TEST(NixEvaluatorTest, ImportFromDerivationBuildsWhereItIsAllowed) {
  NixWorld world(
      R"({ slice }: import (derivation { name = "set"; system = slice.system; builder = "/bin/sh"; args = [ "-c" ''
    echo '{ made = derivation { name = "made"; system = "x86_64-linux"; builder = "/bin/sh"; }; }' > $out'' ]; }))");
  world.options.nix.more_config = "sandbox-paths = /bin/sh=/bin/busybox\n";
  Matrix matrix = SmallMatrix({"made"});
  matrix.nixpkgs.ifd = true;
  const Answers answers = world.Evaluate(matrix);
  EXPECT_EQ(answers.Cause("made@cuda12.9-x86_64-linux"), "") << answers.by_id.begin()->second.message;
}

TEST(NixEvaluatorTest, ATreeSeesNothingOfTheDaemonsEnvironment) {
  NixWorld world("{ slice }: throw \"[${builtins.getEnv \"HYDRANT_TOKEN\"}]\"");
  setenv("HYDRANT_TOKEN", "secret", 1);
  const Answers answers = world.Evaluate(SmallMatrix({"good"}));
  unsetenv("HYDRANT_TOKEN");
  EXPECT_EQ(answers.by_id.begin()->second.message, "[]");
}

TEST(NixEvaluatorTest, ATreeReadsNoFileOutsideItselfNotEvenIntoADerivation) {
  NixWorld world;
  const std::string secret = world.dir / "secret";
  ASSERT_TRUE(WriteFileAtomically(secret, "the cache's key").ok());
  const std::string tree = absl::StrCat(R"({ slice }: {
    told = throw (builtins.readFile ")",
                                        secret, R"(");
    copied = derivation { name = "copied"; system = slice.system; builder = "/bin/sh"; src = "${/. + ")",
                                        secret, R"("}"; };
    fine = derivation { name = "fine"; system = slice.system; builder = "/bin/sh"; };
  })");
  ASSERT_TRUE(WriteFileAtomically(world.tree() + "/default.nix", tree).ok());
  const Answers answers = world.Evaluate(SmallMatrix({"told", "copied", "fine"}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  for (const auto& [id, outcome] : answers.by_id) {
    EXPECT_EQ(outcome.derivation.empty(), !id.starts_with("fine")) << id;
    EXPECT_THAT(outcome.message, testing::Not(HasSubstr("the cache's key")));
    if (!id.starts_with("fine")) {
      EXPECT_THAT(outcome.message, HasSubstr("restricted mode"));
    }
  }
}

TEST(NixEvaluatorTest, APrivateFolderThatSomebodyTidiedAwayIsMadeAgain) {
  NixWorld world(kTree);
  Evaluator& evaluator = world.evaluator();
  ASSERT_TRUE(RemoveTree(world.options.nix.folder).ok());
  const Answers answers = Ask(evaluator, world.tree(), SmallMatrix({"good"}));
  EXPECT_TRUE(answers.status.ok()) << answers.status;
}

TEST(NixEvaluatorTest, APrivateFolderThatTakesNoByteIsToldByItsFileAndForgotten) {
  NixWorld world(kTree);
  Evaluator& evaluator = world.evaluator();
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit full = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const Answers answers = Ask(evaluator, world.tree(), SmallMatrix({"good"}));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(absl::IsResourceExhausted(answers.status)) << answers.status;
  EXPECT_THAT(std::string(answers.status.message()), HasSubstr(world.options.nix.folder + "/runs/"));
  EXPECT_TRUE(Ask(evaluator, world.tree(), SmallMatrix({"good"})).status.ok());
}

TEST(NixEvaluatorTest, NothingIsLeftInThePrivateFolder) {
  NixWorld world(kTree);
  world.Evaluate(SmallMatrix({"good"}));
  struct stat status;
  ASSERT_EQ(stat((world.options.nix.folder + "/runs").c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink, 2);  // no folder in it
}

}  // namespace
}  // namespace hydrant
