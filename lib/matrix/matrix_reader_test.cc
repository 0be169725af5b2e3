#include "lib/matrix/matrix_reader.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/toml_reader.h"

namespace hydrant {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const fs::path kGolden = fs::path(HYDRANT_SOURCE_DIR) / "tests/golden/matrix";

absl::StatusOr<Matrix> ReadGolden(const fs::path& path) {
  auto text = LoadMatrixFile(path.string());
  if (!text.ok()) return text.status();
  return ReadMatrix(*text, path.filename().string(), "/etc/hydrant/matrices.d");
}

Matrix Good(const char* name) {
  auto matrix = ReadGolden(kGolden / "good" / name);
  EXPECT_TRUE(matrix.ok()) << matrix.status();
  return matrix.ok() ? *matrix : Matrix();
}

TEST(ReadMatrix, TellsEachFaultWithItsPlaceAndWhatIsExpected) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kGolden / "bad")) {
    std::ifstream in(entry.path());
    std::string expected;
    std::getline(in, expected);
    const std::string mark = "# expect: ";
    ASSERT_TRUE(expected.starts_with(mark)) << entry.path();
    const auto matrix = ReadGolden(entry.path());
    EXPECT_FALSE(matrix.ok()) << entry.path();
    const std::string message(matrix.status().message());
    EXPECT_THAT(message, HasSubstr(expected.substr(mark.size()))) << entry.path();
    EXPECT_THAT(message, testing::ContainsRegex("[a-z-]+\\.toml:[0-9]+: ")) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 50);
}

TEST(ReadMatrix, ReadsEverythingThatAMatrixMaySay) {
  const Matrix matrix = Good("cuda-core.toml");
  EXPECT_EQ(matrix.name, "cuda-core");
  EXPECT_EQ(matrix.reason, "the ML core that our cluster runs");
  EXPECT_EQ(matrix.priority, 5);
  EXPECT_EQ(matrix.source.git, "https://github.com/NixOS/nixpkgs");
  EXPECT_THAT(matrix.source.branches, ElementsAre("nixos-unstable-small"));
  EXPECT_EQ(matrix.every, absl::Hours(12));
  EXPECT_THAT(matrix.packages, ElementsAre("python3Packages.torch", "python3Packages.jaxlib", "magma"));
  ASSERT_EQ(matrix.axes.size(), 5u);
  EXPECT_EQ(matrix.axes[2].name, "capabilities");
  EXPECT_EQ(matrix.axes[3].name, "forward_compat");
  EXPECT_EQ(matrix.axes[3].values[0].Joined(), "true");
  EXPECT_THAT(matrix.groups.at("ml"), ElementsAre("torch", "jax*"));
  EXPECT_TRUE(matrix.licence_declared);
  EXPECT_THAT(matrix.licence_private, ElementsAre("CUDA EULA"));
  EXPECT_THAT(matrix.audit_refuse, ElementsAre("duplicate_modules"));
}

TEST(ReadMatrix, ReadsHowNixpkgsIsToBeImported) {
  const NixpkgsSpec nixpkgs = Good("cuda-core.toml").nixpkgs;
  EXPECT_EQ(nixpkgs.recipe, "recipe.nix");
  EXPECT_THAT(nixpkgs.recipe_text, HasSubstr("slice.system"));
  EXPECT_THAT(nixpkgs.overlays, ElementsAre(Overlay{"mkl.nix", "final: prev: { }\n"}));
  EXPECT_THAT(nixpkgs.allow, ElementsAre("unfree", "broken"));
  EXPECT_EQ(nixpkgs.config_json,
            R"({"cudaSupport":true,"nested":{"a":1,"b":2.5},"permittedInsecurePackages":["x-1"]})");
  EXPECT_TRUE(nixpkgs.ifd);
}

TEST(ReadMatrix, AProbeNeedsARecipeThatCanRefuseUnfree) {
  const std::string text =
      "name = \"x\"\nsource.path = \"/t\"\naxes.package = [\"a\"]\nnixpkgs.probe = [\"hygiene\"]\n";
  EXPECT_THAT(ReadMatrix({text, {}}, "m.toml", "/")->nixpkgs.probe, ElementsAre("hygiene"));
  const auto own =
      ReadMatrix({text + "nixpkgs.recipe = \"x.nix\"\n", {{"x.nix", "{ ... }: { }"}}}, "m.toml", "/");
  EXPECT_THAT(
      std::string(own.status().message()),
      HasSubstr("m.toml:4: [nixpkgs] probe: only a built-in recipe can be asked with unfree refused"));
}

TEST(ReadMatrix, ReadsGateChecksAndLimits) {
  const Matrix matrix = Good("cuda-core.toml");
  EXPECT_TRUE(matrix.gate.declared);
  EXPECT_FALSE(matrix.gate.checks_required);
  EXPECT_THAT(matrix.gate.required, ElementsAre("torch@cuda12.9-*", "@ml"));
  ASSERT_EQ(matrix.checks.size(), 2u);
  EXPECT_TRUE(matrix.checks[0].gpu);
  EXPECT_EQ(matrix.checks[0].timeout, absl::Minutes(5));
  EXPECT_THAT(matrix.checks[0].gpu_architectures, ElementsAre("each"));
  EXPECT_THAT(matrix.checks[1].command, ElementsAre("echo", "a", "a"));
  EXPECT_EQ(matrix.checks[1].environment, "output");
  EXPECT_EQ(matrix.limits.timeout, absl::Hours(6));
  EXPECT_EQ(matrix.limits.memory, 24'000'000'000u);
  ASSERT_EQ(matrix.limits_for.size(), 1u);
  EXPECT_EQ(matrix.limits_for[0].limits.timeout, absl::Minutes(90));
  EXPECT_EQ(matrix.limits_for[0].limits.max_log, 64u << 20)
      << "what the entry does not say is that of [limits]";
}

TEST(ReadMatrix, WhatIsLeftOutHasItsDefault) {
  const Matrix matrix = Good("few-axes.toml");
  EXPECT_EQ(matrix.source.path, "/etc/hydrant/tree");
  EXPECT_EQ(matrix.every, std::nullopt);
  EXPECT_EQ(matrix.nixpkgs.recipe, "auto");
  EXPECT_THAT(matrix.nixpkgs.allow, ElementsAre("unfree"));
  EXPECT_EQ(matrix.nixpkgs.config_json, "{}");
  EXPECT_FALSE(matrix.gate.declared);
  EXPECT_FALSE(matrix.licence_declared);
}

TEST(ReadMatrix, SpansTheVariantsThatTheFileSays) {
  const auto expansion = ExpandMatrix(Good("few-axes.toml"), "x86_64-linux");
  std::vector<std::string> ids;
  for (const Variant& variant : expansion->variants) ids.push_back(variant.id);
  EXPECT_THAT(ids, ElementsAre("python3Packages.a@compiler=gcc%2013-mpi=mpich-x86_64-linux",
                               "python3Packages.a@compiler=gcc%2013-mpi=false-x86_64-linux",
                               "a@compiler=gcc%2013-mpi=mpich-x86_64-linux",
                               "a@compiler=gcc%2013-mpi=false-x86_64-linux"));
  EXPECT_EQ(SliceJson(expansion->slices[1]), R"({"compiler":"gcc 13","mpi":false,"system":"x86_64-linux"})");
}

TEST(ReadMatrix, IncludesExcludesAndRulesComeTogether) {
  const auto expansion = ExpandMatrix(Good("cuda-core.toml"), "x86_64-linux");
  std::map<Cause, int> causes;
  for (const Variant& variant : expansion->variants) ++causes[variant.cause];
  // 3 packages x 3 CUDA x 3 capabilities x 2; magma on 13.0 (6), then 8.9 with forward_compat on the other 8
  // (8).
  EXPECT_EQ(expansion->variants.size(), 55u);
  EXPECT_EQ(causes[Cause::kExcluded], 14);
  EXPECT_EQ(causes[Cause::kCapability], 6) << "12.0 on CUDA 12.6: 3 packages, 2 values of forward_compat";
  EXPECT_EQ(expansion->variants.back().id, "torch@cuda12.8-py313-cap8.9+9.0a-x86_64-linux");
}

TEST(ReadMatrix, SeventyTwoCellsKeepTheirEightExcludedOnesAndLoseNone) {
  const auto matrix = ReadMatrix({R"(
name = "acc"
source.path = "/tree"
[axes]
package = ["python3Packages.a", "python3Packages.b", "magma"]
cuda = ["12.6", "12.9", "13.0"]
python = ["python312", "python313"]
capabilities = [["default"], ["8.9"], ["12.0"], ["6.1"]]
system = ["x86_64-linux"]
[[exclude]]
cuda = "13.0"
package = "magma"
reason = "magma has no CUDA 13 yet"
)",
                                  {}},
                                 "m.toml", "/");
  const auto expansion = ExpandMatrix(*matrix, "x86_64-linux");
  std::map<Cause, int> causes;
  for (const Variant& variant : expansion->variants) {
    ++causes[variant.cause];
    EXPECT_EQ(variant.message.size() > 20, variant.cause != Cause::kNone) << variant.id;
  }
  EXPECT_EQ(expansion->variants.size(), 72u);
  EXPECT_EQ(causes[Cause::kExcluded], 8);
  // 12.0 on CUDA 12.6: 3 packages, 2 Pythons; 6.1 on CUDA 13.0: the 2 packages that are not excluded.
  EXPECT_EQ(causes[Cause::kCapability], 6 + 4);
}

TEST(ReadMatrix, ReadsADerivedPackageList) {
  const Matrix matrix = Good("derived.toml");
  ASSERT_TRUE(matrix.derived.has_value());
  EXPECT_EQ(matrix.derived->changed_by, "cudaSupport");
  EXPECT_THAT(matrix.derived->filter, ElementsAre("python3Packages.*", "@solvers"));
  EXPECT_TRUE(matrix.packages.empty());
}

TEST(ReadMatrix, AFilterIsEverythingUnlessSaid) {
  const auto matrix = ReadMatrix(
      {"name = \"x\"\nsource.path = \"/t\"\naxes.package = { changed_by = \"cudaSupport\" }\n", {}}, "m.toml",
      "/");
  EXPECT_THAT(matrix->derived->filter, ElementsAre("*"));
}

TEST(LoadMatrixFile, TellsTheNearestFileWhenOneIsMissing) {
  const auto text = LoadMatrixFile((kGolden / "bad/recipe-misspelt.toml").string());
  EXPECT_TRUE(absl::IsNotFound(text.status()));
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("the nearest file there is 'recipe.nix'"));
}

TEST(ReadMatrix, AFileThatDidNotComeWithTheTextIsMissed) {
  const auto matrix = ReadMatrix(
      {"name = \"x\"\n[source]\npath = \".\"\n[nixpkgs]\nrecipe = \"r.nix\"\n[axes]\npackage = [\"a\"]\n",
       {}},
      "m.toml", "/");
  EXPECT_THAT(std::string(matrix.status().message()),
              HasSubstr("m.toml:5: [nixpkgs] recipe: the file 'r.nix' did not come"));
}

TEST(LoadMatrixFile, BringsWhatTheFileNamesByItsOwnWords) {
  const auto text = LoadMatrixFile((kGolden / "good/cuda-core.toml").string());
  ASSERT_TRUE(text.ok()) << text.status();
  std::vector<std::string> names;
  for (const auto& [name, contents] : text->files) names.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAre("recipe.nix", "mkl.nix"));
}

TEST(LoadMatrixFile, AFileThatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(LoadMatrixFile("/nonexistent/m.toml").status()));
  EXPECT_TRUE(absl::IsNotFound(LoadMatrixFile((kGolden / "bad/recipe-absent.toml").string()).status()));
}

// A key of 100,000 parts.
std::string Deep(const char* before, const char* behind) {
  std::string key = before;
  for (int part = 1; part < 100'000; ++part) key += "\"=\".";
  return key + "a" + behind;
}

TEST(ReadMatrix, DotsInTextsAreNoPartsOfAKey) {
  const std::string dots(100, '.');
  const auto matrix =
      ReadMatrix({"name = \"x\" # " + dots + "\nreason = \"\"\"it's \\\"\n" + dots +
                      "\"\"\"\n[source]\npath = '" + dots + "'\n[axes]\npackage = [\"a.b\", \"c\"]\n",
                  {}},
                 "m.toml", "/");
  EXPECT_TRUE(matrix.ok()) << matrix.status();
}

TEST(LoadMatrixFile, AnEndlessFileIsNotReadToItsEnd) {
  EXPECT_TRUE(absl::IsInvalidArgument(LoadMatrixFile("/dev/zero").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(LoadMatrixFile("/").status()));
}

TEST(ReadMatrix, GarbageIsRefusedWithoutAnException) {
  for (const std::string& text :
       {std::string("\0\xff\xfe", 3), std::string(100'000, '['), std::string("a = 1\n\x80"),
        std::string("name = \"\\uD800\""), "a = " + std::string(100'000, '['), Deep("[", "]"),
        Deep("", " = 1"), "x = " + Deep("{", " = 1}"), "[\"\\\".\"." + Deep("", "]"),
        Deep("", "") + ".b.\"=\" = 1", "x = " + std::string(100, '{'),
        "x = {y = \"\"\"a\"\"\"\", " + Deep("", " = 1}"), std::string(kMaxTomlBytes + 1, '#')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadMatrix({text, {}}, "m.toml", "/").status()))
        << text.substr(0, 20);
  }
}

}  // namespace
}  // namespace hydrant
