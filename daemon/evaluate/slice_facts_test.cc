// What an evaluation tells of a slice beside its variants' derivations: what it has by name, and which
// packages cannot be looked at where unfree is refused. Over tests/nixpkgs and over small trees for what goes
// wrong.
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/evaluate/evaluation_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;

class SliceFactsTest : public testing::Test {
 protected:
  // Of the package, over tests/nixpkgs or a tree of tests/nixpkgs/eras.
  Answers Evaluate(const std::string& tree, std::vector<std::string> packages, const std::string& cuda,
                   const std::string& python, bool probe = false) {
    Matrix matrix = SmallMatrix(std::move(packages), {cuda});
    matrix.axes.push_back({.name = "python", .values = {{{python}}}});
    matrix.nixpkgs = {};
    if (probe) matrix.nixpkgs.probe = {"hygiene"};
    const Answers answers = Ask(world_.evaluator(), HYDRANT_SOURCE_DIR "/tests/nixpkgs" + tree, matrix);
    EXPECT_TRUE(answers.status.ok()) << answers.status;
    return answers;
  }
  static const Outcome& Of(const Answers& answers, const std::string& name) {
    const auto found = answers.by_id.lower_bound(name + "@");
    EXPECT_TRUE(found != answers.by_id.end() && found->first.starts_with(name + "@")) << name;
    EXPECT_EQ(found->second.cause, Cause::kNone) << found->second.message;
    return found->second;
  }
  // With the tree of one file.
  Answers EvaluateOwn(const std::string& attributes, std::vector<std::string> packages) {
    EXPECT_TRUE(WriteFileAtomically(world_.tree() + "/default.nix", absl::StrCat(R"({ slice }: let
      of = name: derivation { inherit name; system = slice.system; builder = "/bin/sh"; }; in { )",
                                                                                 attributes, " }"))
                    .ok());
    return world_.Evaluate(SmallMatrix(std::move(packages)));
  }
  NixWorld world_;
};

TEST_F(SliceFactsTest, EveryVariantKnowsWhatItsSliceHasByName) {
  for (const char* era : {"", "/eras/2022", "/eras/2025"}) {
    const std::string cuda = *era == '\0' ? "12.6" : era == std::string("/eras/2022") ? "11.8" : "13.0";
    const Answers answers = Evaluate(era, {"magma", "cudaPackages.cudnn", "blas"}, cuda, "python311");
    const Outcome& magma = Of(answers, "magma");
    EXPECT_THAT(magma.facts.named, testing::IsSupersetOf({Key("cudnn"), Key("magma"), Key("nccl")})) << era;
    // The sets of 2025 have no toolkit as a whole.
    EXPECT_EQ(magma.facts.named.contains("cudatoolkit"), cuda != "13.0") << era;
    EXPECT_EQ(magma.facts.named.at("magma"), magma.derivation);
    EXPECT_EQ(magma.facts.named.at("cudnn"), Of(answers, "cudaPackages.cudnn").derivation);
    EXPECT_EQ(Of(answers, "blas").facts.named, magma.facts.named);
  }
}

TEST_F(SliceFactsTest, IsAskedOfTheTopLevelBefore2022AndOnlyWithCuda) {
  const Answers answers = Evaluate("/eras/2020", {"cudnn"}, "10.1", "python38");
  EXPECT_EQ(Of(answers, "cudnn").facts.named.at("cudnn"), Of(answers, "cudnn").derivation);
  Matrix matrix = SmallMatrix({"magma"});
  matrix.axes = {};
  matrix.nixpkgs = {};
  const Answers without = Ask(world_.evaluator(), HYDRANT_SOURCE_DIR "/tests/nixpkgs", matrix);
  EXPECT_THAT(without.by_id.begin()->second.facts.named, IsEmpty());
}

TEST_F(SliceFactsTest, ANamedPackageThatThrowsIsLeftOut) {
  const Answers answers =
      EvaluateOwn("a = of \"a\"; cudnn = throw \"no\"; nccl = of \"nccl\"; magma = { };", {"a"});
  EXPECT_THAT(Of(answers, "a").facts.named, ElementsAre(Key("nccl")));
}

TEST_F(SliceFactsTest, ANamedPackageThatNothingCatchesCostsNoVariant) {
  for (const char* bad : {"abort \"enough\"", "let x = x; in x", "let f = n: 1 + f (n + 1); in f 0"}) {
    const Answers answers =
        EvaluateOwn(absl::StrCat("a = of \"a\"; b = of \"b\"; cudnn = ", bad, ";"), {"a", "b"});
    EXPECT_THAT(Of(answers, "a").facts.named, IsEmpty()) << bad;
    EXPECT_NE(Of(answers, "b").derivation, "") << bad;
  }
}

TEST_F(SliceFactsTest, TheReplTellsThemToo) {
  const std::string attributes = "x1 = abort \"1\"; x2 = abort \"2\"; a = of \"a\"; nccl = of \"nccl\";";
  EXPECT_TRUE(WriteFileAtomically(
                  world_.tree() + "/default.nix",
                  absl::StrCat("{ slice }: let of = name: derivation { inherit name; system = slice.system; "
                               "builder = \"/bin/sh\"; }; in { ",
                               attributes, " }"))
                  .ok());
  world_.options.evaluators = 1;
  const Answers answers = world_.Evaluate(SmallMatrix({"x1", "x2", "a"}, {"12.6", "12.9"}));
  for (const auto& [id, outcome] : answers.by_id) {
    if (!id.starts_with("a@")) continue;
    EXPECT_THAT(outcome.facts.named, ElementsAre(Key("nccl"))) << id;
  }
  const Answers worse =
      EvaluateOwn(attributes + "magma = let f = n: 1 + f (n + 1); in f 0;", {"x1", "x2", "a"});
  EXPECT_THAT(Of(worse, "a").facts.named, IsEmpty());
}

TEST_F(SliceFactsTest, AHarmlessQuestionThatForcesAnUnfreePackageIsNamedWithIt) {
  const Answers answers = Evaluate(
      "/eras/2020", {"python3Packages.pytorchWithCuda", "python3Packages.cupy", "magma", "cudatoolkit"},
      "10.1", "python38", true);
  EXPECT_THAT(
      Of(answers, "pytorchWithCuda").facts.hygiene,
      ElementsAre(testing::AllOf(HasSubstr("attribute: Package ‘cudatoolkit-10.1"),
                                 HasSubstr("has an unfree license (‘unfree’), refusing to evaluate."))));
  for (const char* clean : {"cupy", "magma", "cudatoolkit"})
    EXPECT_THAT(Of(answers, clean).facts.hygiene, IsEmpty()) << clean;
}

TEST_F(SliceFactsTest, WhereATreeHandlesNoRefusalsTheQuestionIsStillNamed) {
  const Answers answers =
      Evaluate("/eras/2022", {"python3Packages.gpu-told", "python3Packages.cupy"}, "11.8", "python311", true);
  EXPECT_THAT(Of(answers, "gpu-told").facts.hygiene,
              ElementsAre("cudaSupport: cannot be told where unfree is refused"));
  EXPECT_EQ(Of(answers, "gpu-told").facts.cuda_support, true);
  EXPECT_THAT(Of(answers, "cupy").facts.hygiene, IsEmpty());
}

TEST_F(SliceFactsTest, WithoutTheProbeNobodyAsks) {
  const Answers answers = Evaluate("/eras/2020", {"python3Packages.pytorchWithCuda"}, "10.1", "python38");
  EXPECT_THAT(Of(answers, "pytorchWithCuda").facts.hygiene, IsEmpty());
}

}  // namespace
}  // namespace hydrant
