// `matrix check`, `show` and what travels with `apply` and `plan`: offline but for the last two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "client/fake_farm.h"
#include "client/run_program.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant::client {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kMatrix[] = R"(name = "m"
reason = "a test"
[source]
path = "tree"
[axes]
package = ["a", "magma"]
cuda = ["12.6", "13.0"]
capabilities = [["default"], ["6.1"]]
system = ["x86_64-linux"]
[[exclude]]
cuda = "13.0"
package = "magma"
reason = "magma has no CUDA 13 yet"
[gate]
required = ["a@cuda12.6-x86_64-linux"]
)";

class MatrixProgramTest : public ::testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(dir_ / name, text).ok());
    return dir_ / name;
  }
  TestDir dir_;
};

TEST_F(MatrixProgramTest, CheckCountsWhatTheFileMakes) {
  const std::string file = File("m.toml", kMatrix);
  EXPECT_EQ(RunHydrant({"matrix", "check", file}).out,
            file + ": ok: m, 8 variants in 4 slices, 2 excluded, 1 impossible by rule\n");
}

TEST_F(MatrixProgramTest, CheckAndShowTellNotesBesideTheirResult) {
  const std::string file = File("m.toml", absl::StrReplaceAll(kMatrix, {{"\"6.1\"", "\"8.9\""}}));
  for (const char* verb : {"check", "show"}) {
    const Ran ran = RunHydrant({"matrix", verb, file});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_THAT(ran.err, HasSubstr("hydrant: note: " + file +
                                   ": capability 8.9 is already in the default list of 12.6"));
  }
  EXPECT_THAT(RunHydrant({"matrix", "check", file, "--output", "jsonl"}).out,
              HasSubstr("\"needs_evaluation\":false,\"notes\":[\"capability 8.9 is already"));
}

TEST_F(MatrixProgramTest, ADerivedListIsCheckedAndShownToNeedAnEvaluation) {
  const std::string file = File(
      "m.toml", absl::StrReplaceAll(kMatrix, {{"[\"a\", \"magma\"]", "{ changed_by = \"cudaSupport\" }"}}));
  EXPECT_EQ(RunHydrant({"matrix", "check", file}).out,
            file + ": ok: m, 4 slices; which packages cudaSupport changes (filter *) needs an evaluation\n");
  const Ran ran = RunHydrant({"matrix", "show", file});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("so it needs an evaluation"));
}

TEST_F(MatrixProgramTest, CheckNamesLineAndNearestKeyOfTheFirstError) {
  const std::string file = File("bad.toml",
                                "name = \"x\"\nreason = \"r\"\n[source]\npath = \".\"\n[axes]\npackage = "
                                "[\"a\"]\ncudda = [\"12.9\"]\n");
  const Ran ran = RunHydrant({"matrix", "check", file});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, AllOf(StartsWith("hydrant: " + file + ":7: "), HasSubstr("'cuda'")));
}

TEST_F(MatrixProgramTest, AMissingFileIsNamed) {
  const Ran ran = RunHydrant({"matrix", "check", dir_ / "absent.toml"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("absent.toml"));
}

TEST_F(MatrixProgramTest, TooManyCellsAreRefusedWithTheirNumber) {
  std::string packages, pythons;
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&packages, i == 0 ? "" : ",", "\"p", i, "\"");
  for (int i = 100; i < 700; ++i) absl::StrAppend(&pythons, i == 100 ? "" : ",", "\"python3", i, "\"");
  const std::string file =
      File("big.toml", absl::StrCat("name=\"big\"\nreason=\"r\"\n[source]\npath=\".\"\n[axes]\npackage=[",
                                    packages, "]\npython=[", pythons, "]\n"));
  const Ran ran = RunHydrant({"matrix", "check", file});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("3000000"));
}

TEST_F(MatrixProgramTest, ShowDrawsTheGridWithoutAFarm) {
  const Ran ran =
      RunHydrant({"matrix", "show", File("m.toml", kMatrix)}, {{"HYDRANT_SERVER", "127.0.0.1:1"}});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, StartsWith("m  8 variants\n"
                                  "all: system x86_64-linux\n"
                                  "        cuda 12.6        13.0\n"
                                  "capabilities default 6.1 default 6.1\n"
                                  "a            ·       ·   ·       –\n"
                                  "magma        ·       ·   –       –\n\n"
                                  "· 5 pending   – 3 impossible\n"));
}

TEST_F(MatrixProgramTest, ShowInJsonHasTheShapeOfAStatusWithoutAnEvaluation) {
  const Ran ran = RunHydrant({"matrix", "show", File("m.toml", kMatrix), "--output", "jsonl"});
  EXPECT_THAT(
      ran.out,
      AllOf(StartsWith("{\"id\":\"a@cuda12.6-x86_64-linux\",\"package\":\"a\",\"slice\":{\"capabilities\":["
                       "\"default\"],\"cuda\":\"12.6\","),
            HasSubstr("\"required\":true"),
            HasSubstr(
                "\"state\":\"impossible\",\"cause\":\"excluded\",\"message\":\"magma has no CUDA 13 yet\"")));
}

TEST_F(MatrixProgramTest, ApplySendsTheTextItsFilesAndItsFolder) {
  FakeFarm farm;
  farm.applied.set_name("m");
  farm.applied.set_variants(8);
  File("r.nix", "{ nixpkgs, slice, ... }: { }");
  const std::string file = File("m.toml", absl::StrCat(kMatrix, "[nixpkgs]\nrecipe = \"r.nix\"\n"));
  const Ran ran = RunHydrant({"matrix", "apply", file}, {{"HYDRANT_SERVER", farm.address()}});
  EXPECT_EQ(ran.out, "matrix m applied: 8 variants\n") << ran.err;
  ASSERT_EQ(farm.asked.size(), 1u);
  EXPECT_THAT(farm.asked[0],
              AllOf(HasSubstr("key: \"r.nix\" value: \"{ nixpkgs, slice, ... }: { }\""),
                    HasSubstr("directory: \"" + dir_.path() + "\""), HasSubstr("file: \"" + file + "\"")));
}

TEST_F(MatrixProgramTest, AWrongFileIsNotSent) {
  FakeFarm farm;
  EXPECT_EQ(
      RunHydrant({"matrix", "apply", File("m.toml", "name = 3\n")}, {{"HYDRANT_SERVER", farm.address()}})
          .exit,
      2);
  EXPECT_TRUE(farm.asked.empty());
}

TEST_F(MatrixProgramTest, PlanPrintsWhatTheFarmSays) {
  FakeFarm farm;
  farm.plan = Golden<v1::PlanResponse>("plan");
  const Ran ran =
      RunHydrant({"plan", File("m.toml", kMatrix), "--output", "json"}, {{"HYDRANT_SERVER", farm.address()}});
  EXPECT_EQ(ran.out, ReadFile(GoldenPath("plan.json")).value_or(""));
}

}  // namespace
}  // namespace hydrant::client
