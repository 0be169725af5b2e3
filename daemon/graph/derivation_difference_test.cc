#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/graph/derivation_fixture.h"
#include "daemon/graph/text_difference.h"

namespace hydrant {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string SourcePath(const std::string& hash, const std::string& name) {
  return "/nix/store/" + std::string(31, '0') + hash + "-" + name;
}

// cudnn with its source, magma above it, torch above both.
TestPackages Torch() {
  return {{"0src", {.name = "cudnn-8.9.7.tar.xz", .content = "a"}},
          {"1cudnn", {.name = "cudnn-8.9.7", .inputs = {"0src"}}},
          {"2magma", {.name = "magma-2.7", .inputs = {"1cudnn"}, .sources = {SourcePath("a", "fix.patch")}}},
          {"3torch",
           {.name = "torch-2.1",
            .inputs = {"1cudnn", "2magma"},
            .environment = {{"cmakeFlags", "-DA=1 -DB=2"}}}}};
}

class DifferenceTest : public ::testing::Test {
 protected:
  // What is said of torch between the two, and the names of the way there.
  std::string Between(const TestPackages& old_ones, const TestPackages& new_ones,
                      const std::vector<std::string>& hidden = {}) {
    const DerivationNumber before = made_.Add(old_ones, hidden).at("3torch");
    const DerivationNumber after = made_.Add(new_ones).at("3torch");
    way_.clear();
    if (made_.table.Same(before, after)) return "same";
    DerivationDifference compare = made_.Compare();
    const size_t found = compare.Find(before, after);
    for (const auto& [old_one, new_one] : compare.Chain(before, after))
      way_.emplace_back(made_.table.package_name(new_one).package);
    return DescribeDifference(made_.table, compare.differences()[found]);
  }
  TestDerivations made_;
  std::vector<std::string> way_;
};

TEST_F(DifferenceTest, AVersionIsFollowedToThePackageThatHasIt) {
  TestPackages after = Torch();
  after["0src"] = {.name = "cudnn-9.1.0.tar.xz", .content = "b"};
  after["1cudnn"].name = "cudnn-9.1.0";
  EXPECT_EQ(Between(Torch(), after), "cudnn 8.9.7 → 9.1.0");
  EXPECT_THAT(way_, ElementsAre("torch", "cudnn"));
}

TEST_F(DifferenceTest, WhatWrapsAPackageOfItsVersionIsNotToBlame) {
  TestPackages before = Torch(), after = Torch();
  before["0gcc"] = {.name = "gcc-12.3.0"};
  before["1wrap"] = {.name = "gcc-wrapper-12.3.0", .inputs = {"0gcc"}};
  before["2stdenv"] = {.name = "stdenv-linux", .inputs = {"1wrap"}};
  before["3torch"].inputs = {"2stdenv"};
  after = before;
  after["0gcc"].name = "gcc-13.2.0";
  after["1wrap"].name = "gcc-wrapper-13.2.0";
  EXPECT_EQ(Between(before, after), "gcc 12.3.0 → 13.2.0");
  EXPECT_THAT(way_, ElementsAre("torch", "stdenv-linux", "gcc-wrapper", "gcc"));
}

TEST_F(DifferenceTest, ASourceOfOneVersionThatChangedIsItsUsers) {
  TestPackages after = Torch();
  after["0src"].content = "b";
  EXPECT_EQ(Between(Torch(), after), "cudnn: its source changed (cudnn-8.9.7.tar.xz)");
}

TEST_F(DifferenceTest, APlainFileIsASourceToo) {
  TestPackages after = Torch();
  after["2magma"].sources = {SourcePath("b", "fix.patch")};
  EXPECT_EQ(Between(Torch(), after), "magma: its source changed (fix.patch)");
  after["2magma"].sources = {};
  EXPECT_EQ(Between(Torch(), after), "magma: its source fix.patch is gone");
}

TEST_F(DifferenceTest, AFixedOutputThatIsFetchedInAnotherWayChangesNothing) {
  TestPackages after = Torch();
  after["0src"].mirror = "another";
  EXPECT_EQ(Between(Torch(), after), "same");
  after["3torch"].environment["cmakeFlags"] = "-DA=1 -DB=3";
  EXPECT_EQ(Between(Torch(), after), "torch: environment variable cmakeFlags: -DB=2 → -DB=3");
}

TEST_F(DifferenceTest, ArgumentsBuilderSystemAndVariablesAreNamed) {
  TestPackages after = Torch();
  after["2magma"].arguments = {"-e", "x"};
  EXPECT_EQ(Between(Torch(), after), "magma: builder arguments changed");
  after = Torch();
  after["2magma"].builder = "/bin/bash";
  EXPECT_EQ(Between(Torch(), after), "magma: builder /bin/sh → /bin/bash");
  after = Torch();
  after["2magma"].system = "aarch64-linux";
  EXPECT_EQ(Between(Torch(), after), "magma: system x86_64-linux → aarch64-linux");
  after = Torch();
  after["2magma"].environment["GPU"] = "Hopper";
  EXPECT_EQ(Between(Torch(), after), "magma: environment variable GPU: (nothing) → Hopper");
}

TEST_F(DifferenceTest, AnInputThatCameOrWentIsNamed) {
  TestPackages after = Torch();
  after["0nccl"] = {.name = "nccl-2.18"};
  after["2magma"].inputs = {"1cudnn", "0nccl"};
  EXPECT_EQ(Between(Torch(), after), "magma: nccl-2.18 is a new input");
  EXPECT_EQ(Between(after, Torch()), "magma: nccl-2.18 is no input any more");
}

TEST_F(DifferenceTest, OnePackageOfTwoReleasesOfItsSetIsOneInput) {
  TestPackages before = Torch();
  before["0python"] = {.name = "python3-3.12.4"};
  before["1cudnn"] = {.name = "python3.12-numpy-2.1", .inputs = {"0python"}};
  TestPackages after = before;
  after["0python"].name = "python3-3.13.1";
  after["1cudnn"].name = "python3.13-numpy-2.1";
  EXPECT_EQ(Between(before, after), "python3 3.12.4 → 3.13.1");
}

TEST_F(DifferenceTest, WhatIsNotRecordedIsToldAsFarAsItsNameGoes) {
  TestPackages after = Torch();
  after["1cudnn"].arguments = {"x"};
  EXPECT_EQ(Between(Torch(), after, {"0src", "1cudnn"}),
            "cudnn: it changed; what it is made of is not recorded any more");
  after["1cudnn"].name = "cudnn-9.1.0";
  EXPECT_EQ(Between(Torch(), after, {"0src", "1cudnn"}), "cudnn 8.9.7 → 9.1.0");
}

TEST_F(DifferenceTest, AGraphIsTakenInBitByBit) {
  DerivationTable& table = made_.table;
  const DerivationNumber top =
      table.Fill({.path = "/nix/store/00000000000000000000000000000001-top.drv",
                  .inputs = {"/nix/store/00000000000000000000000000000002-low.drv"}});
  const auto unfilled = table.Unfilled(std::vector{top});
  ASSERT_THAT(unfilled, ElementsAre(1u));
  EXPECT_EQ(table.name(unfilled[0]), "low");
  table.Fill({.path = table.path(unfilled[0])});
  EXPECT_THAT(table.Unfilled(std::vector{top}), IsEmpty());
}

TEST(PackageNames, SplitAsNixSplitsThem) {
  EXPECT_EQ(SplitPackageName("cuda12.8-cudnn-9.7.1"), (PackageName{"cuda12.8-cudnn", "9.7.1"}));
  EXPECT_EQ(SplitPackageName("stdenv-linux"), (PackageName{"stdenv-linux", ""}));
  EXPECT_EQ(SplitPackageName("odd-"), (PackageName{"odd-", ""}));
  EXPECT_EQ(SplitPackageName("python3-3.12.4-env"), (PackageName{"python3", "3.12.4-env"}));
  EXPECT_EQ(NameOfDerivation("/nix/store/00000000000000000000000000000001-top.drv"), "top");
  EXPECT_EQ(NameOfDerivation("top.drv"), "top.drv");
  EXPECT_EQ(WithoutNumbers("cuda12.8-cudnn_9_1x"), "cuda#-cudnn_#x");
}

TEST(TextDifferences, AreWholeWordsAndShort) {
  const TextDifference words = DifferenceOfTexts("-DA=1 -DB=22 -DC", "-DA=1 -DB=32 -DC");
  EXPECT_EQ(words.before + "|" + words.after, "-DB=22|-DB=32");
  const TextDifference grown = DifferenceOfTexts("a", "a b");
  EXPECT_EQ(grown.before + "|" + grown.after, "a|a b");
  const TextDifference cut = DifferenceOfTexts("", std::string(59, 'x') + "éé");
  EXPECT_EQ(cut.after, std::string(57, 'x') + "…");
}

}  // namespace
}  // namespace hydrant
