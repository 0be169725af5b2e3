#include "lib/matrix/expansion.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSystem[] = "x86_64-linux";

Axis AxisOf(const char* name, std::vector<std::string> words) {
  Axis axis{name, {}};
  for (std::string& word : words) axis.values.push_back({{std::move(word)}});
  return axis;
}

Matrix Small() {
  Matrix matrix;
  matrix.name = "small";
  matrix.packages = {"python3Packages.torch", "magma"};
  matrix.axes = {AxisOf("cuda", {"12.6", "12.9"}), AxisOf("system", {kSystem})};
  return matrix;
}

std::vector<std::string> Ids(const Expansion& expansion) {
  std::vector<std::string> ids;
  for (const Variant& variant : expansion.variants) ids.push_back(variant.id);
  return ids;
}

const Variant& Find(const Expansion& expansion, const std::string& id) {
  for (const Variant& variant : expansion.variants) {
    if (variant.id == id) return variant;
  }
  static const Variant kNone{.id = "no such variant"};
  return kNone;
}

TEST(ExpandMatrix, GoesPackageByPackageAndSliceBySlice) {
  const auto expansion = ExpandMatrix(Small(), kSystem);
  EXPECT_THAT(Ids(*expansion), ElementsAre("torch@cuda12.6-x86_64-linux", "torch@cuda12.9-x86_64-linux",
                                           "magma@cuda12.6-x86_64-linux", "magma@cuda12.9-x86_64-linux"));
  EXPECT_EQ(expansion->slices.size(), 2u);
  EXPECT_EQ(expansion->slices[0].key, "cuda12.6-x86_64-linux");
}

TEST(ExpandMatrix, AnIdHasItsAxesInOrderWithoutDefaults) {
  Matrix matrix;
  matrix.packages = {"a"};
  matrix.axes = {AxisOf("cuda", {"12.9"}),
                 AxisOf("python", {"python313"}),
                 Axis{"capabilities", {{{"8.9", "9.0a"}}}},
                 AxisOf("mpi", {"true"}),
                 AxisOf("blas", {"mkl"}),
                 AxisOf("zeta", {"x/y z"}),
                 AxisOf("flavour", {"default"}),
                 AxisOf("system", {"aarch64-linux"})};
  EXPECT_THAT(Ids(*ExpandMatrix(matrix, kSystem)),
              ElementsAre("a@cuda12.9-py313-cap8.9+9.0a-blas=mkl-mpi=true-zeta=x%2Fy%20z-aarch64-linux"));
}

TEST(ExpandMatrix, ASystemThatIsNotDeclaredIsTheDaemons) {
  Matrix matrix;
  matrix.packages = {"a"};
  const auto expansion = ExpandMatrix(matrix, "aarch64-linux");
  EXPECT_THAT(Ids(*expansion), ElementsAre("a@aarch64-linux"));
  EXPECT_EQ(SliceJson(expansion->slices[0]), R"({"system":"aarch64-linux"})");
}

TEST(ExpandMatrix, PackagesThatWouldCollideKeepTheirPath) {
  Matrix matrix;
  matrix.packages = {"python3Packages.torch", "torch", "python3Packages.jax"};
  EXPECT_THAT(Ids(*ExpandMatrix(matrix, "s-l")),
              ElementsAre("python3Packages.torch@s-l", "torch@s-l", "jax@s-l"));
}

TEST(ExpandMatrix, AnExcludedCellStaysWithItsReason) {
  Matrix matrix = Small();
  matrix.exclude.push_back({{{"cuda", {"12.6"}}, {"package", {"magma"}}}, "magma has no CUDA 12.6"});
  const auto expansion = ExpandMatrix(matrix, kSystem);
  EXPECT_EQ(expansion->variants.size(), 4u);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.6-x86_64-linux").cause, Cause::kExcluded);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.6-x86_64-linux").message, "magma has no CUDA 12.6");
  EXPECT_EQ(Find(*expansion, "torch@cuda12.6-x86_64-linux").cause, Cause::kNone);
}

TEST(ExpandMatrix, AnExcludeMayNameAGroupOrAPattern) {
  Matrix matrix = Small();
  matrix.groups["ml"] = {"torch", "jax*"};
  matrix.exclude.push_back({{{"cuda", {"12.[0-6]"}}, {"package", {"@ml"}}}, "r"});
  const auto expansion = ExpandMatrix(matrix, kSystem);
  EXPECT_EQ(Find(*expansion, "torch@cuda12.6-x86_64-linux").cause, Cause::kExcluded);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.6-x86_64-linux").cause, Cause::kNone);
}

TEST(ExpandMatrix, AnIncludeCrossesTheAxesThatItLeavesOutAndComesLast) {
  Matrix matrix = Small();
  matrix.axes.insert(matrix.axes.begin() + 1, AxisOf("python", {"python312", "python313"}));
  matrix.packages = {"magma"};
  matrix.include.push_back({{{"cuda", {"12.8"}}, {"package", {"python3Packages.torch"}}}, ""});
  const auto expansion = ExpandMatrix(matrix, kSystem);
  ASSERT_EQ(expansion->variants.size(), 6u);
  EXPECT_EQ(expansion->variants[4].id, "torch@cuda12.8-py312-x86_64-linux");
  EXPECT_EQ(expansion->variants[5].id, "torch@cuda12.8-py313-x86_64-linux");
  EXPECT_EQ(expansion->slices.size(), 6u);
}

TEST(ExpandMatrix, AnIncludeOfAnExcludedCellTakesItBack) {
  Matrix matrix = Small();
  matrix.exclude.push_back({{{"cuda", {"12.6"}}}, "old"});
  matrix.include.push_back({{{"cuda", {"12.6"}}, {"package", {"magma"}}}, ""});
  const auto expansion = ExpandMatrix(matrix, kSystem);
  EXPECT_EQ(expansion->variants.size(), 4u);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.6-x86_64-linux").cause, Cause::kNone);
  EXPECT_EQ(Find(*expansion, "torch@cuda12.6-x86_64-linux").cause, Cause::kExcluded);
}

TEST(ExpandMatrix, AnImpossibleCapabilityIsRefusedAndAnExcludeSaysMore) {
  Matrix matrix = Small();
  matrix.axes.insert(matrix.axes.begin() + 1, Axis{"capabilities", {{{"default"}}, {{"12.0"}}}});
  matrix.exclude.push_back({{{"capabilities", {"12.0"}}, {"package", {"magma"}}}, "no"});
  const auto expansion = ExpandMatrix(matrix, kSystem);
  EXPECT_EQ(Find(*expansion, "torch@cuda12.6-cap12.0-x86_64-linux").cause, Cause::kCapability);
  EXPECT_THAT(Find(*expansion, "torch@cuda12.6-cap12.0-x86_64-linux").message, HasSubstr("12.8 or newer"));
  EXPECT_EQ(Find(*expansion, "torch@cuda12.9-cap12.0-x86_64-linux").cause, Cause::kNone);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.6-cap12.0-x86_64-linux").cause, Cause::kExcluded);
}

TEST(ExpandMatrix, TooManyCellsAreRefusedWithTheirCountBeforeAnyIsMade) {
  Matrix matrix;
  matrix.name = "big";
  for (int i = 0; i < 5000; ++i) matrix.packages.push_back("p" + std::to_string(i));
  std::vector<std::string> pythons;
  for (int i = 0; i < 600; ++i) pythons.push_back("python3" + std::to_string(i));
  matrix.axes = {AxisOf("cuda", {"12.6", "12.8", "12.9", "13.0"}), AxisOf("python", pythons)};
  const std::string message(ExpandMatrix(matrix, kSystem).status().message());
  EXPECT_EQ(message,
            "matrix big has 12000000 cells (5000 packages x 4 cuda x 600 python); the cap is 1000000");
}

TEST(ExpandMatrix, ACountBeyondAllNumbersIsStillTooMany) {
  Matrix matrix;
  matrix.packages = {"a"};
  for (int i = 0; i < 20; ++i) {
    std::vector<std::string> values;
    for (int j = 0; j < 20; ++j) values.push_back(std::to_string(j));
    matrix.axes.push_back(AxisOf(("axis" + std::to_string(i)).c_str(), values));
  }
  EXPECT_THAT(std::string(ExpandMatrix(matrix, kSystem).status().message()),
              HasSubstr("at least 18446744073709551615"));
}

TEST(ExpandMatrix, TwoCellsOfOneIdAreRefused) {
  Matrix matrix;
  matrix.packages = {"a"};
  matrix.axes = {AxisOf("system", {"default", kSystem})};
  EXPECT_THAT(std::string(ExpandMatrix(matrix, kSystem).status().message()),
              HasSubstr("two cells have the id …@x86_64-linux: system \"default\" is that of the farm"));
}

TEST(ExpandMatrix, AFullMillionIsAllowed) {
  Matrix matrix;
  for (int i = 0; i < 1000; ++i) matrix.packages.push_back("p" + std::to_string(i));
  std::vector<std::string> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::to_string(i));
  matrix.axes = {AxisOf("cuda", values)};
  EXPECT_EQ(ExpandMatrix(matrix, kSystem)->variants.size(), kMaxCells);
}

Matrix Derived() {
  Matrix matrix = Small();
  matrix.packages.clear();
  matrix.derived = DerivedPackages{"cudaSupport", {"python3Packages.*", "@core"}};
  matrix.groups["core"] = {"magma"};
  return matrix;
}

TEST(ExpandMatrix, ADerivedListNeedsAnEvaluation) {
  const absl::Status status = ExpandMatrix(Derived(), kSystem).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(),
            "matrix small: its package list is derived (what cudaSupport changes, filter python3Packages.* "
            "@core), so it needs an evaluation: the file alone does not tell the variants");
}

TEST(ExpandDerivedMatrix, KeepsWhatTheFilterMatchesOnceAndInOrder) {
  const std::vector<std::string> found = {"zlib", "magma", "python3Packages.torch", "magma", "opencv"};
  const auto expansion = ExpandDerivedMatrix(Derived(), kSystem, found);
  EXPECT_THAT(Ids(*expansion), ElementsAre("magma@cuda12.6-x86_64-linux", "magma@cuda12.9-x86_64-linux",
                                           "torch@cuda12.6-x86_64-linux", "torch@cuda12.9-x86_64-linux"));
}

TEST(ExpandDerivedMatrix, IsHeldToTheCapToo) {
  std::vector<std::string> found;
  for (int i = 0; i < 100'001; ++i) found.push_back("python3Packages.p" + std::to_string(i));
  Matrix matrix = Derived();
  matrix.axes[0] = AxisOf("cuda", {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"});
  EXPECT_THAT(std::string(ExpandDerivedMatrix(matrix, kSystem, found).status().message()),
              HasSubstr("has 1000010 cells (100001 packages x 10 cuda"));
}

TEST(ExpandDerivedMatrix, IsTheListOfTheFileWhereThatHasOne) {
  EXPECT_EQ(Ids(*ExpandDerivedMatrix(Small(), kSystem, {})), Ids(*ExpandMatrix(Small(), kSystem)));
}

TEST(ExpandMatrix, ARuleRefusesItsPackageOnlyAndNamesItsSource) {
  Matrix matrix = Small();
  matrix.packages = {"python3Packages.jax-cuda13-plugin", "magma"};
  matrix.axes[0] = AxisOf("cuda", {"12.9", "13.0"});
  const auto expansion = ExpandMatrix(matrix, kSystem);
  const Variant& refused = Find(*expansion, "jax-cuda13-plugin@cuda12.9-x86_64-linux");
  EXPECT_EQ(refused.cause, Cause::kRule);
  EXPECT_THAT(refused.message, HasSubstr("needs CUDA 13, not 12.9 (nixpkgs"));
  EXPECT_EQ(Find(*expansion, "jax-cuda13-plugin@cuda13.0-x86_64-linux").cause, Cause::kNone);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.9-x86_64-linux").cause, Cause::kNone);
}

TEST(ExpandMatrix, ALibraryVersionAsAnAxisIsHeldAgainstTheCapabilities) {
  Matrix matrix = Small();
  matrix.packages = {"magma"};
  matrix.axes = {AxisOf("cuda", {"12.9"}), AxisOf("capabilities", {"6.1", "7.5"}), AxisOf("cudnn", {"9.13"})};
  const auto expansion = ExpandMatrix(matrix, kSystem);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.9-cap6.1-cudnn=9.13-x86_64-linux").cause, Cause::kRule);
  EXPECT_EQ(Find(*expansion, "magma@cuda12.9-cap7.5-cudnn=9.13-x86_64-linux").cause, Cause::kNone);
}

TEST(SliceJson, GivesListsBooleansAndEscapedText) {
  Slice slice;
  slice.axes = {{"capabilities", {{"8.9"}}},
                {"forward_compat", {{"true"}}},
                {"mpi", {{"openmpi"}}},
                {"z", {{"a\"b\\c\x01"}}}};
  EXPECT_EQ(SliceJson(slice),
            R"({"capabilities":["8.9"],"forward_compat":true,"mpi":"openmpi","z":"a\"b\\c\u0001"})");
}

TEST(MatchesVariant, LooksAtIdNameAndPath) {
  Matrix matrix;
  matrix.groups["ml"] = {"torch"};
  const Variant torch{
      .id = "torch@cuda12.9-x86_64-linux", .name = "torch", .package = "python3Packages.torch"};
  for (const char* glob : {"torch", "torch@*", "python3Packages.*", "*cuda12.9*", "@ml"}) {
    EXPECT_TRUE(MatchesVariant(matrix, glob, torch)) << glob;
  }
  for (const char* glob : {"torchvision", "torch@cuda13*", "@none", "ml"}) {
    EXPECT_FALSE(MatchesVariant(matrix, glob, torch)) << glob;
  }
}

TEST(LimitsOf, TheLastMatchingEntryWins) {
  Matrix matrix;
  matrix.limits_for = {{"torch", {.timeout = absl::Hours(1)}}, {"t*", {.timeout = absl::Hours(2)}}};
  EXPECT_EQ(LimitsOf(matrix, {.id = "torch@x", .name = "torch"}).timeout, absl::Hours(2));
  EXPECT_EQ(LimitsOf(matrix, {.id = "jax@x", .name = "jax"}).timeout, absl::Hours(10));
}

TEST(GlobsWithoutVariants, NamesTypingErrors) {
  Matrix matrix = Small();
  matrix.gate.required = {"torch@*", "torhc@*"};
  matrix.checks.push_back({.name = "c", .variants = "magma2"});
  matrix.exclude.push_back({{{"cuda", {"12.7", "12.9"}}, {"package", {"mgama", "@core"}}}, "r"});
  matrix.groups["core"] = {"tor*"};
  EXPECT_THAT(GlobsWithoutVariants(matrix, *ExpandMatrix(matrix, kSystem)),
              ElementsAre("[[exclude]] cuda '12.7'", "[[exclude]] package 'mgama' (the nearest is 'magma')",
                          "[gate] required 'torhc@*' (the nearest is 'torch')",
                          "[[check]] for 'magma2' (the nearest is 'magma')"));
}

TEST(FirstPossibleSlice, IsTheFirstThatNoRuleRefuses) {
  Matrix matrix{.name = "small"};
  matrix.derived = DerivedPackages{.changed_by = "cudaSupport"};
  matrix.axes = {{.name = "cuda", .values = {{{"12.6"}}, {{"12.9"}}}},
                 {.name = "capabilities", .values = {{{"12.0"}}}}};
  EXPECT_EQ(FirstPossibleSlice(*ExpandDerivedMatrix(matrix, "x86_64-linux", {})), 1u);
  matrix.axes[0].values = {{{"12.6"}}, {{"12.4"}}};
  EXPECT_EQ(FirstPossibleSlice(*ExpandDerivedMatrix(matrix, "x86_64-linux", {})), 0u) << "none is possible";
}

}  // namespace
}  // namespace hydrant
