// Derived package lists with the stock Nix: over a tree of one file for what goes wrong, over tests/nixpkgs
// for what a list of nixpkgs is.
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/base/subprocess.h"

namespace hydrant {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Tree(const std::string& attributes) {
  return absl::StrCat(R"({ slice }: let
    of = name: derivation { inherit name; system = slice.system; builder = "/bin/sh"; };
    on = slice.cudaSupport;
    switched = name: of "${name}-${toString on}";
  in { )",
                      attributes, " }");
}

class DerivePackagesTest : public testing::Test {
 protected:
  absl::StatusOr<DerivedList> Derive(const std::string& attributes,
                                     const Matrix& matrix = DerivedMatrix({"*"})) {
    EXPECT_TRUE(WriteFileAtomically(world_.tree() + "/default.nix", Tree(attributes)).ok());
    return AskList(world_.evaluator(), world_.tree(), matrix);
  }
  std::vector<std::string> Packages(const std::string& attributes,
                                    const Matrix& matrix = DerivedMatrix({"*"})) {
    const auto list = Derive(attributes, matrix);
    EXPECT_TRUE(list.ok()) << list.status();
    return list.ok() ? list->packages : std::vector<std::string>();
  }
  NixWorld world_;
};

TEST_F(DerivePackagesTest, OneThatEvaluatesOnlyWithTheSwitchCountsAsChanged) {
  EXPECT_THAT(
      Packages("same = of \"same\"; only = if on then of \"x\" else throw \"no\"; a = switched \"a\";"),
      ElementsAre("a", "only"));
}

TEST_F(DerivePackagesTest, AnErrorOfOneTakesNoOther) {
  const auto list =
      Derive(R"(a = switched "a"; aborts = abort "enough"; loops = let x = x; in x; m = switched "m";
    throws = throw "no"; types = 1 + "a"; z = switched "z"; off = if on then abort "not so" else of "off";)");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(list->packages, ElementsAre("a", "m", "z"));
  EXPECT_THAT(list->notes, Contains("4 attributes do not evaluate, left out: aborts, loops, throws, types"));
  EXPECT_THAT(list->notes, Contains("1 package evaluates only without cudaSupport, left out: off"));
}

TEST_F(DerivePackagesTest, NamesOfAnySpelling) {
  EXPECT_THAT(
      Packages(
          R"("odd.name" = switched "odd"; "two words" = switched "two"; "\"q\"" = switched "q"; "é" = switched "e";
    python3Packages = { "a.b" = switched "ab"; };)"),
      ElementsAre("\"q\"", "odd.name", "two words", "é", "python3Packages.a.b"));
}

TEST_F(DerivePackagesTest, WhatTheFilterLeavesOutIsNeverForced) {
  const auto list = Derive("good = switched \"g\"; bad = abort \"forced\"; rPackages = abort \"forced\";",
                           DerivedMatrix({"goo?"}));
  EXPECT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(list->packages, ElementsAre("good"));
}

TEST_F(DerivePackagesTest, ASetThatTheFilterNamesIsLookedInto) {
  EXPECT_THAT(Packages("rPackages = { torch = switched \"r\"; }; other = { x = switched \"x\"; };",
                       DerivedMatrix({"rPackages.*"})),
              ElementsAre("rPackages.torch"));
  const auto missing = Derive("", DerivedMatrix({"haskelPackages.*"}));
  EXPECT_THAT(missing->notes, Contains("haskelPackages: attribute 'haskelPackages' missing"));
}

TEST_F(DerivePackagesTest, ThousandsOfNamesInSeveralImports) {
  const auto list = Derive(R"(python3Packages = builtins.listToAttrs (builtins.genList (i: {
    name = "p${toString (10000 + i)}"; value = if i / 2 * 2 == i then switched "p${toString i}" else of "q"; }) 2500);)");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->packages.size(), 1250u);
  EXPECT_EQ(list->packages.back(), "python3Packages.p12498");
}

TEST_F(DerivePackagesTest, APackageSetThatDoesNotEvaluateIsToldWithTheSwitchItFailsWith) {
  const auto list = Derive("} // (if on then throw \"no CUDA for this system\" else { }) // {");
  EXPECT_TRUE(absl::IsFailedPrecondition(list.status())) << list.status();
  EXPECT_THAT(std::string(list.status().message()),
              HasSubstr("with cudaSupport on: no CUDA for this system"));
}

TEST_F(DerivePackagesTest, ARecipeThatDoesNotLookAtTheSwitchChangesNothing) {
  const auto list = Derive("a = of \"a\";");
  EXPECT_THAT(list->packages, IsEmpty());
  EXPECT_THAT(list->notes, ElementsAre(HasSubstr("cudaSupport changes 0 of 1 package"),
                                       HasSubstr("a recipe of your own reads it as slice.cudaSupport")));
}

TEST_F(DerivePackagesTest, AnEvaluatorThatIsAlwaysKilledIsNoList) {
  world_.Install("nix-instantiate", "kill -9 $$");
  EXPECT_TRUE(absl::IsUnavailable(Derive("").status()));
}

TEST_F(DerivePackagesTest, NothingIsWrittenToTheStore) {
  Derive("a = switched \"a\";").IgnoreError();
  const auto listed =
      hydrant::Run({.argv = {"sh", "-c", "ls " + world_.options.nix.store_root + "/nix/store"}});
  EXPECT_THAT(listed->out, testing::Not(HasSubstr(".drv")));
}

// What of tests/nixpkgs asks config.cudaSupport, itself or through a dependency.
TEST(DerivePackagesOfNixpkgsTest, ItIsOfTheSetsThatTheFirstSliceChooses) {
  NixWorld world;
  Matrix matrix = DerivedMatrix({"mine"});
  matrix.nixpkgs = {
      .recipe = "auto",
      .overlay_sets = {{"mine", {{"mine.nix", "final: prev: { mine = prev.python3Packages.a; }"}}}}};
  matrix.axes.push_back({.name = "overlays", .values = {{{"mine"}}, {{"default"}}}});
  const auto list = AskList(world.evaluator(), HYDRANT_SOURCE_DIR "/tests/nixpkgs", matrix);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(list->packages, ElementsAre("mine"));
}

TEST(DerivePackagesOfNixpkgsTest, ExactlyWhatTheSwitchChanges) {
  NixWorld world;
  Matrix matrix = DerivedMatrix({"*"});
  matrix.nixpkgs = {};
  matrix.axes[0].values = {{{"12.6"}}, {{"12.9"}}};
  matrix.axes.push_back({.name = "python", .values = {{{"python312"}}}});
  const auto list = AskList(world.evaluator(), HYDRANT_SOURCE_DIR "/tests/nixpkgs", matrix);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(list->packages,
              ElementsAre("python3Packages.a", "python3Packages.b", "python3Packages.jaxlib",
                          "python3Packages.pytorch", "python3Packages.torch", "python3Packages.torchvision"));
  EXPECT_THAT(list->notes,
              ElementsAre("cudaSupport changes 6 of 58 packages that the filter keeps",
                          HasSubstr("12 attributes do not evaluate, left out: cudaPackages_10_2, ")));
}

}  // namespace
}  // namespace hydrant
