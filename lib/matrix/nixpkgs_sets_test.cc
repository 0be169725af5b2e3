#include "lib/matrix/nixpkgs_sets.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/matrix/axis_addition.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix_reader.h"
#include "lib/matrix/notes.h"

namespace hydrant {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::filesystem::path kGolden = std::filesystem::path(HYDRANT_SOURCE_DIR) / "tests/golden/matrix";

Matrix Sets() {
  const auto text = LoadMatrixFile((kGolden / "good/sets.toml").string());
  EXPECT_TRUE(text.ok()) << text.status();
  const auto matrix = ReadMatrix(*text, "sets.toml", "/");
  EXPECT_TRUE(matrix.ok()) << matrix.status();
  return *matrix;
}

TEST(NixpkgsSetsTest, AValueIsInTheIdUnlessItIsWhatTheMatrixHasAnyway) {
  const auto expansion = ExpandMatrix(Sets(), "x86_64-linux");
  std::vector<std::string> ids;
  for (const Variant& variant : expansion->variants) ids.push_back(variant.id);
  EXPECT_THAT(ids, ElementsAre("magma@x86_64-linux", "magma@overlays=mkl-x86_64-linux",
                               "magma@config=lto-x86_64-linux", "magma@config=lto-overlays=mkl-x86_64-linux",
                               "magma@overlays=patched-torch-x86_64-linux",
                               "magma@config=lto-overlays=patched-torch-x86_64-linux"));
  EXPECT_EQ(expansion->variants[3].message, "mkl does not link with lto");
}

TEST(NixpkgsSetsTest, ASliceHasItsOwnSetsOnly) {
  const NixpkgsSpec nixpkgs = Sets().nixpkgs;
  EXPECT_EQ(OverlaySetOf(nixpkgs, {{"overlays", {{"default"}}}}), nullptr);
  EXPECT_EQ(ConfigSetOf(nixpkgs, {}), nullptr);
  EXPECT_THAT(*OverlaySetOf(nixpkgs, {{"overlays", {{"patched-torch"}}}}),
              ElementsAre(Overlay{"mkl.nix", "final: prev: { }\n"}));
  EXPECT_EQ(*ConfigSetOf(nixpkgs, {{"config", {{"lto"}}}}), R"({"enableLto":true,"variant":"lto"})");
}

TEST(NixpkgsSetsTest, FilesOfSetsTravelWithTheMatrix) {
  const auto text = LoadMatrixFile((kGolden / "good/sets.toml").string());
  std::vector<std::string> names;
  for (const auto& [name, contents] : text->files) names.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAre("mkl.nix", "recipe.nix"));
}

TEST(NixpkgsSetsTest, AFileThatIsMissingIsToldWithItsLineAndTheNearest) {
  const auto text = LoadMatrixFile((kGolden / "bad/set-file-misspelt.toml").string());
  EXPECT_TRUE(absl::IsNotFound(text.status()));
  EXPECT_THAT(std::string(text.status().message()), AllOf(HasSubstr("set-file-misspelt.toml:5: "),
                                                          HasSubstr("the nearest file there is 'mkl.nix'")));
}

TEST(NixpkgsSetsTest, OneMoreSetIsPlannedByItsName) {
  Matrix matrix = Sets();
  EXPECT_TRUE(AddAxisValue("overlays=patched-torch", &matrix).ok());
  EXPECT_THAT(std::string(AddAxisValue("config=ltoo", &matrix).message()),
              HasSubstr("config: 'ltoo' is no set of [nixpkgs.config_sets]; the nearest is 'lto'"));
  std::erase_if(matrix.axes, [](const Axis& axis) { return axis.name == "config"; });
  EXPECT_THAT(std::string(AddAxisValue("config=lto", &matrix).message()),
              HasSubstr("does not declare the axis 'config'"));
}

TEST(NixpkgsSetsTest, WhereARecipeOfOnesOwnHasNoSetsTheAxisIsTheRecipes) {
  NixpkgsSpec nixpkgs{.recipe = "own.nix", .recipe_text = "{ ... }: { }"};
  EXPECT_FALSE(IsSetAxis(nixpkgs, "overlays"));
  EXPECT_EQ(SetFault(nixpkgs, "overlays", {{"anything"}}), "");
  nixpkgs.overlay_sets["mkl"] = {};
  EXPECT_TRUE(IsSetAxis(nixpkgs, "overlays"));
  EXPECT_FALSE(IsSetAxis(nixpkgs, "config"));
}

TEST(NixpkgsSetsTest, ASetThatNothingUsesIsANote) {
  Matrix matrix = Sets();
  const auto expansion = ExpandMatrix(matrix, "x86_64-linux");
  EXPECT_THAT(NotesOf(matrix, *expansion),
              ElementsAre(HasSubstr("the set 'patched-torch' of overlays is used by nothing")));
  matrix.nixpkgs.overlay_sets.erase("patched-torch");
  EXPECT_THAT(NotesOf(matrix, *expansion), IsEmpty());
}

}  // namespace
}  // namespace hydrant
