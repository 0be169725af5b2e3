// The built-in recipes through the evaluator, as a farm runs them: each over the tree of its era, chosen by
// `auto`, with nothing to be read but that tree. What the recipes do in detail: recipes_check.
#include <string>

#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Era {
  std::string name, cuda, python, asked, found_as;
};

class RecipesTest : public testing::TestWithParam<Era> {
 protected:
  static Matrix Of(std::vector<std::string> packages) {
    Matrix matrix = SmallMatrix(std::move(packages), {GetParam().cuda});
    matrix.axes.push_back({.name = "python", .values = {{{GetParam().python}}}});
    matrix.nixpkgs = {};
    return matrix;
  }
  Answers Evaluate(const Matrix& matrix) {
    return Ask(world_.evaluator(), HYDRANT_SOURCE_DIR "/tests/nixpkgs/eras/" + GetParam().name, matrix);
  }
  NixWorld world_;
};

TEST_P(RecipesTest, AutoFindsThePackageUnderItsNameOfTheTime) {
  const Answers answers = Evaluate(Of({GetParam().asked}));
  ASSERT_TRUE(answers.status.ok()) << answers.status;
  const Outcome& outcome = answers.by_id.begin()->second;
  EXPECT_EQ(outcome.cause, Cause::kNone) << outcome.message;
  EXPECT_EQ(outcome.facts.found_as, GetParam().found_as);
  EXPECT_EQ(outcome.message, "found as " + GetParam().found_as);
}

TEST_P(RecipesTest, FactsComeWithTheOutcome) {
  const Answers answers = Evaluate(Of({"magma"}));
  const VariantFacts& facts = answers.by_id.begin()->second.facts;
  EXPECT_THAT(facts.unfree_licence, testing::AnyOf("unfree", "CUDA EULA"));
  EXPECT_EQ(facts.cuda_version, GetParam().cuda);
  EXPECT_EQ(facts.found_as, "");
}

TEST_P(RecipesTest, AnAxisThatTheRecipeDoesNotKnowRefusesTheSlice) {
  Matrix matrix = Of({"mpi"});
  matrix.axes.push_back({.name = "hue", .values = {{{"red"}}}});
  const Outcome outcome = Evaluate(matrix).by_id.begin()->second;
  EXPECT_EQ(outcome.cause, Cause::kThrow);
  EXPECT_THAT(outcome.message, HasSubstr("axis 'hue' = \"red\""));
  EXPECT_THAT(outcome.message, HasSubstr("the built-in recipe " + GetParam().name));
}

INSTANTIATE_TEST_SUITE_P(Eras, RecipesTest,
                         testing::Values(Era{"2020", "10.1", "python38", "python3Packages.torchWithCuda",
                                             "python38Packages.pytorchWithCuda"},
                                         Era{"2022", "11.8", "python311", "python3Packages.triton",
                                             "python311Packages.openai-triton"},
                                         Era{"2025", "13.0", "python313", "python3Packages.jaxlibWithCuda",
                                             "python313Packages.jax-cuda13-plugin"}),
                         [](const auto& info) { return "Of" + info.param.name; });

TEST(RecipeFactsTest, OfAPackageOf2025) {
  NixWorld world;
  Matrix matrix = SmallMatrix({"python3Packages.torch"}, {"12.8"});
  matrix.axes.push_back({.name = "capabilities", .values = {{{"8.9", "9.0"}}}});
  matrix.nixpkgs = {};
  const Answers answers = Ask(world.evaluator(), HYDRANT_SOURCE_DIR "/tests/nixpkgs/eras/2025", matrix);
  ASSERT_EQ(answers.by_id.begin()->second.cause, Cause::kNone) << answers.by_id.begin()->second.message;
  const VariantFacts& facts = answers.by_id.begin()->second.facts;
  EXPECT_THAT(facts.licences, ElementsAre(Licence{"bsd3", true}));
  EXPECT_EQ(facts.broken, false);
  EXPECT_EQ(facts.cuda_support, true);
  EXPECT_EQ(facts.rocm_support, false);
  EXPECT_EQ(facts.cuda_version, "12.8");
  EXPECT_THAT(facts.cuda_capabilities, ElementsAre("8.9", "9.0"));
  EXPECT_EQ(facts.python_version, "3.13");
}

}  // namespace
}  // namespace hydrant
