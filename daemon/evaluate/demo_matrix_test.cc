// The demo's matrix over the test tree, with real Nix and the built-in recipe: every cell with the class that
// it is there for.
#include <map>
#include <string>

#include "daemon/evaluate/derivation_closure.h"
#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/matrix/matrix_reader.h"

namespace hydrant {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char kTree[] = HYDRANT_SOURCE_DIR "/tests/nixpkgs";

Matrix Demo() {
  const std::string file = HYDRANT_SOURCE_DIR "/deploy/examples/demo.toml";
  const auto text = LoadMatrixFile(file);
  EXPECT_TRUE(text.ok()) << text.status();
  const auto matrix = ReadMatrix(*text, "demo.toml", HYDRANT_SOURCE_DIR "/deploy/examples");
  EXPECT_TRUE(matrix.ok()) << matrix.status();
  return *matrix;
}

class DemoMatrixTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = new NixWorld;
    answers_ = new Answers(Ask(world_->evaluator(), kTree, Demo()));
  }
  static void TearDownTestSuite() {
    delete answers_;
    delete world_;
  }
  static const Outcome& Of(const std::string& id) { return answers_->by_id.at(id); }

  static NixWorld* world_;
  static Answers* answers_;
};
NixWorld* DemoMatrixTest::world_ = nullptr;
Answers* DemoMatrixTest::answers_ = nullptr;

TEST_F(DemoMatrixTest, EveryCellHasItsClass) {
  ASSERT_TRUE(answers_->status.ok()) << answers_->status;
  std::map<std::string, std::string> refused;
  for (const auto& [id, outcome] : answers_->by_id) {
    if (outcome.cause != Cause::kNone) refused[id] = CauseName(outcome.cause);
  }
  EXPECT_THAT(refused, UnorderedElementsAre(
                           Pair("tensorflowWithCuda@cuda12.6-py312-x86_64-linux", "broken"),
                           Pair("jetson-stats@cuda12.6-py312-x86_64-linux", "unsupported_system"),
                           Pair("cudnn@cuda12.6-py312-x86_64-linux", "removed"),
                           Pair("triton@cuda12.6-py312-x86_64-linux", "missing_attribute"),
                           Pair("pytorchWithCuda11@cuda12.6-py312-x86_64-linux", "assertion"),
                           Pair("pillow-legacy@cuda12.6-py312-x86_64-linux", "insecure"),
                           Pair("mistyped@cuda12.6-py312-x86_64-linux", "type_error"),
                           Pair("TheanoWithCuda@cuda12.6-py312-x86_64-linux", "interpreter_disabled")));
  EXPECT_EQ(answers_->by_id.size() - refused.size(), 63);
}

TEST_F(DemoMatrixTest, ARefusalSaysWhatNixpkgsSays) {
  EXPECT_THAT(Of("cudnn@cuda12.6-py312-x86_64-linux").message, HasSubstr("is now part of cudaPackages"));
  EXPECT_THAT(Of("jetson-stats@cuda12.6-py312-x86_64-linux").message,
              HasSubstr("is not supported on ‘x86_64-linux’"));
}

TEST_F(DemoMatrixTest, CudaIsSharedByWhatKnowsNothingOfIt) {
  EXPECT_EQ(Of("jax@cuda12.2-py312-x86_64-linux").derivation,
            Of("jax@cuda12.9-py312-x86_64-linux").derivation);
  EXPECT_NE(Of("jax@cuda12.2-py311-x86_64-linux").derivation,
            Of("jax@cuda12.2-py312-x86_64-linux").derivation);
  EXPECT_NE(Of("magma@cuda12.2-py312-x86_64-linux").derivation,
            Of("magma@cuda12.9-py312-x86_64-linux").derivation);
}

TEST_F(DemoMatrixTest, EnvironmentsOnlyWhereACheckWantsPython) {
  const Outcome& torch = Of("pytorchWithCuda@cuda12.6-py312-x86_64-linux");
  EXPECT_THAT(torch.environment, HasSubstr("-python3-3.12.4-env.drv"));
  EXPECT_THAT(torch.environment_output, HasSubstr("-env"));
  EXPECT_NE(torch.environment, Of("jaxlibWithCuda@cuda12.6-py312-x86_64-linux").environment);
  EXPECT_EQ(Of("magma@cuda12.6-py312-x86_64-linux").environment, "");
  EXPECT_EQ(Of("chex@cuda12.6-py312-x86_64-linux").environment, "");
}

TEST_F(DemoMatrixTest, TheWholeGraphCanBeRead) {
  DerivationClosure closure(world_->options.nix.store_root);
  std::vector<std::string> roots;
  for (const auto& [id, outcome] : answers_->by_id) {
    if (!outcome.derivation.empty()) roots.push_back(outcome.derivation);
    if (!outcome.environment.empty()) roots.push_back(outcome.environment);
  }
  const auto all = closure.LoadAll(roots);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_GT(all->size(), 100);
  for (const auto& derivation : *all) EXPECT_EQ(nix::PrintDerivation(derivation->parsed), derivation->aterm);
}

TEST_F(DemoMatrixTest, OutputsAreThoseOfTheDerivation) {
  DerivationClosure closure(world_->options.nix.store_root);
  for (const auto& [id, outcome] : answers_->by_id) {
    if (outcome.derivation.empty()) continue;
    const auto loaded = closure.Load(outcome.derivation);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    for (const auto& [name, path] : outcome.outputs)
      EXPECT_EQ((*loaded)->parsed.outputs.at(name).path, path) << id;
  }
}

TEST(OtherMatricesTest, AnUnknownCudaReleaseMakesItsSliceMissing) {
  NixWorld world;
  Matrix matrix = SmallMatrix({"magma", "nccl-tests"}, {"12.7", "12.9"});
  matrix.nixpkgs = {.recipe = "2022"};
  const Answers answers = Ask(world.evaluator(), kTree, matrix);
  EXPECT_EQ(answers.Cause("magma@cuda12.7-x86_64-linux"), "missing_attribute");
  EXPECT_EQ(answers.Cause("nccl-tests@cuda12.7-x86_64-linux"), "missing_attribute");
  EXPECT_THAT(answers.by_id.at("magma@cuda12.7-x86_64-linux").message, HasSubstr("cudaPackages_12_8"));
  EXPECT_EQ(answers.Cause("magma@cuda12.9-x86_64-linux"), "");
}

TEST(OtherMatricesTest, UnfreeIsRefusedWhereItIsNotAllowed) {
  NixWorld world;
  Matrix matrix = SmallMatrix({"cudaPackages.cudatoolkit"});
  matrix.nixpkgs = {.recipe = "2022", .allow = {}};
  const Answers answers = Ask(world.evaluator(), kTree, matrix);
  EXPECT_EQ(answers.by_id.begin()->second.cause, Cause::kUnfree) << answers.by_id.begin()->second.message;
}

TEST(OtherMatricesTest, ConfigAndOverlaysTravelWithTheMatrix) {
  NixWorld world;
  Matrix matrix = SmallMatrix({"mine"});
  matrix.nixpkgs = {.recipe = "auto", .overlays = {{"mine.nix", "final: prev: { mine = prev.magma; }"}}};
  const Answers with = Ask(world.evaluator(), kTree, matrix);
  matrix.nixpkgs.config_json = R"({"cudaCapabilities":["8.9"]})";
  const Answers other = Ask(world.evaluator(), kTree, matrix);
  EXPECT_EQ(with.Cause("mine@cuda12.9-x86_64-linux"), "") << with.by_id.begin()->second.message;
  EXPECT_NE(with.by_id.begin()->second.derivation, other.by_id.begin()->second.derivation);
}

// One package that every overlay makes another derivation, in each set of overlays.
Matrix WithOverlaySets() {
  Matrix matrix = SmallMatrix({"mine"});
  matrix.nixpkgs = {
      .recipe = "auto",
      .overlays = {{"mine.nix", "final: prev: { mine = prev.magma; }"}},
      .overlay_sets = {
          {"nccl", {{"sets/over.nix", "final: prev: { mine = prev.nccl-tests // { was = prev.mine; }; }"}}},
          {"wrong", {{"sets/ü.nix", "{ mine = 1; }"}}},
          {"broken", {{"sets/over.nix", "final: prev: {\n  mine = ;\n}"}}}}};
  matrix.axes.push_back(
      {.name = "overlays", .values = {{{"default"}}, {{"nccl"}}, {{"wrong"}}, {{"broken"}}}});
  return matrix;
}

TEST(OtherMatricesTest, ASetOfOverlaysComesAfterThoseOfTheWholeMatrix) {
  NixWorld world;
  const Answers answers = Ask(world.evaluator(), kTree, WithOverlaySets());
  EXPECT_THAT(answers.by_id.at("mine@cuda12.9-x86_64-linux").derivation, HasSubstr("-magma-"));
  EXPECT_THAT(answers.by_id.at("mine@cuda12.9-overlays=nccl-x86_64-linux").derivation,
              HasSubstr("-nccl-tests-"));
}

TEST(OtherMatricesTest, AnOverlayThatIsNoneFailsItsOwnSliceByItsName) {
  NixWorld world;
  const Answers answers = Ask(world.evaluator(), kTree, WithOverlaySets());
  const Outcome& wrong = answers.by_id.at("mine@cuda12.9-overlays=wrong-x86_64-linux");
  EXPECT_EQ(wrong.cause, Cause::kTypeError);
  EXPECT_THAT(wrong.message, HasSubstr("overlay __.nix: attempt to call something which is not a function"));
  const Outcome& broken = answers.by_id.at("mine@cuda12.9-overlays=broken-x86_64-linux");
  EXPECT_EQ(broken.cause, Cause::kSyntaxError);
  EXPECT_THAT(broken.message, HasSubstr("over.nix:2"));
}

TEST(OtherMatricesTest, ASetOfSettingsGoesOverThoseOfTheWholeMatrix) {
  NixWorld world;
  Matrix matrix = SmallMatrix({"magma"});
  matrix.nixpkgs = {.recipe = "auto",
                    .config_json = R"({"cudaCapabilities":["8.0"]})",
                    .config_sets = {{"ada", R"({"cudaCapabilities":["8.9"]})"}}};
  matrix.axes.push_back({.name = "config", .values = {{{"default"}}, {{"ada"}}}});
  const Answers sets = Ask(world.evaluator(), kTree, matrix);
  matrix.axes.pop_back();
  matrix.nixpkgs.config_json = R"({"cudaCapabilities":["8.9"]})";
  const Answers whole = Ask(world.evaluator(), kTree, matrix);
  const std::string ada = sets.by_id.at("magma@cuda12.9-config=ada-x86_64-linux").derivation;
  EXPECT_NE(ada, sets.by_id.at("magma@cuda12.9-x86_64-linux").derivation);
  EXPECT_EQ(ada, whole.by_id.at("magma@cuda12.9-x86_64-linux").derivation);
}

}  // namespace
}  // namespace hydrant
