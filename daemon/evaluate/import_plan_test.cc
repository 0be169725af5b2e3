#include "daemon/evaluate/import_plan.h"

#include <map>
#include <set>
#include <string>

#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Matrix WithPythons() {
  Matrix matrix = SmallMatrix({"python3Packages.torch", "ucx"}, {"12.6", "12.9"});
  matrix.axes.push_back({.name = "python", .values = {{{"python312"}}, {{"python313"}}}});
  return matrix;
}

std::vector<DriverRequest> Plan(const Matrix& matrix, const std::string& recipe) {
  const auto expansion = ExpandMatrix(matrix, "x86_64-linux");
  EXPECT_TRUE(expansion.ok()) << expansion.status();
  std::vector<size_t> variants(expansion->variants.size());
  for (size_t i = 0; i < variants.size(); ++i) variants[i] = i;
  const EvaluationInput input{
      .tree = "/t", .matrix = matrix, .expansion = *expansion, .variants = variants, .root = "r"};
  return PlanImports(input, {.tree = "/t", .recipe = recipe});
}

TEST(ImportPlanTest, SlicesThatDifferInPythonOnlyShareAnImportOfABuiltInRecipe) {
  const std::vector<DriverRequest> imports = Plan(WithPythons(), "auto");
  ASSERT_EQ(imports.size(), 2);
  EXPECT_EQ(imports[0].names.size(), 4);
  EXPECT_THAT(imports[0].slice_json, Not(HasSubstr("python")));
  std::set<std::string> pythons;
  for (const DriverName& name : imports[0].names) pythons.insert(name.python);
  EXPECT_THAT(pythons, ElementsAre("python312", "python313"));
}

TEST(ImportPlanTest, ARecipeOfOnesOwnMayImportAnewForEachPython) {
  const std::vector<DriverRequest> imports = Plan(WithPythons(), "/r.nix");
  ASSERT_EQ(imports.size(), 4);
  EXPECT_THAT(imports[0].slice_json, HasSubstr("python"));
  EXPECT_EQ(imports[0].names[0].python, "");
}

// Two sets of overlays and one of settings beside what the whole matrix has.
Matrix WithSets() {
  Matrix matrix = SmallMatrix({"ucx"});
  matrix.nixpkgs = {.recipe = "auto",
                    .config_json = R"({"a":1,"b":1})",
                    .overlay_sets = {{"mkl", {{"mkl.nix", "mkl"}}}, {"other", {{"other.nix", "other"}}}},
                    .config_sets = {{"lto", R"({"b":2})"}}};
  matrix.axes.push_back({.name = "config", .values = {{{"default"}}, {{"lto"}}}});
  matrix.axes.push_back({.name = "overlays", .values = {{{"default"}}, {{"mkl"}}}});
  return matrix;
}

TEST(ImportPlanTest, EachChoiceOfSetsIsAnImportWithItsOwn) {
  const auto expansion = ExpandMatrix(WithSets(), "x86_64-linux");
  const Matrix matrix = WithSets();
  const EvaluationInput input{
      .tree = "/t", .matrix = matrix, .expansion = *expansion, .variants = {0, 1, 2, 3}, .root = "r"};
  const DriverRequest common{.recipe = "auto",
                             .config_json = matrix.nixpkgs.config_json,
                             .overlays = {"/r/all.nix"},
                             .overlay_sets = {{"mkl", {"/r/mkl.nix"}}, {"other", {"/r/other.nix"}}}};
  std::map<std::string, DriverRequest> by_id;
  for (const DriverRequest& import : PlanImports(input, common)) by_id[import.names.at(0).id] = import;
  ASSERT_EQ(by_id.size(), 4);
  const DriverRequest& plain = by_id.at("ucx@cuda12.9-x86_64-linux");
  EXPECT_THAT(plain.overlays, ElementsAre("/r/all.nix"));
  EXPECT_EQ(plain.config_json, R"({"a":1,"b":1})");
  const DriverRequest& both = by_id.at("ucx@cuda12.9-config=lto-overlays=mkl-x86_64-linux");
  EXPECT_THAT(both.overlays, ElementsAre("/r/all.nix", "/r/mkl.nix"));
  EXPECT_EQ(both.config_json, R"({"a":1,"b":2})");
  EXPECT_EQ(both.slice_json, plain.slice_json) << "a built-in recipe is not asked for them";
}

TEST(ImportPlanTest, TheImportOfTheMostNamesComesFirst) {
  Matrix matrix = SmallMatrix({"a", "b"}, {"12.6", "12.9"});
  matrix.exclude.push_back({.axes = {{"package", {"a"}}, {"cuda", {"12.6"}}}, .reason = "for once"});
  const auto expansion = ExpandMatrix(matrix, "x86_64-linux");
  std::vector<size_t> variants;
  for (size_t i = 0; i < expansion->variants.size(); ++i) {
    if (expansion->variants[i].cause == Cause::kNone) variants.push_back(i);
  }
  const EvaluationInput input{
      .tree = "/t", .matrix = matrix, .expansion = *expansion, .variants = variants, .root = "r"};
  const std::vector<DriverRequest> imports = PlanImports(input, {.recipe = "/r.nix"});
  EXPECT_THAT(imports[0].slice_json, HasSubstr("12.9"));
  EXPECT_EQ(imports[1].names.size(), 1);
}

TEST(ImportPlanTest, ScatteredEveryProcessNeedsEveryImport) {
  const auto scattered = ScatterImports(Plan(SmallMatrix({"a", "b"}, {"12.6", "12.9"}), "/r.nix"), 2);
  for (const auto& of_process : scattered) {
    ASSERT_EQ(of_process.size(), 2);
    for (const DriverRequest& import : of_process) EXPECT_EQ(import.names.size(), 1);
  }
}

}  // namespace
}  // namespace hydrant
