#include "daemon/evaluate/driver_transcript.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hydrant {
namespace {

constexpr char kDrv[] = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-a.drv";
constexpr char kOut[] = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-a";

std::string Derived(const std::string& mark, const std::string& id, const std::string& drv = kDrv) {
  return absl::StrCat("trace: @", mark, " {\"id\":\"", id, "\",\"drvPath\":\"", drv,
                      "\",\"outputs\":{\"out\":\"", kOut, "\"}}");
}

class DriverTranscriptTest : public testing::Test {
 protected:
  void Take(std::initializer_list<std::string> lines) {
    for (const std::string& line : lines) EXPECT_TRUE(transcript_.Take(line)) << line;
  }
  DriverTranscript transcript_{{"a", "b"}, ""};
};

TEST_F(DriverTranscriptTest, AWholeRun) {
  Take({"trace: @B a", Derived("R", "a"), Derived("E", "a"), "trace: @A {\"id\":\"a\"}", "trace: @B b",
        "trace: @T b", "trace: @Z"});
  ASSERT_EQ(transcript_.reports().size(), 2);
  EXPECT_EQ(transcript_.reports()[0].derivation, kDrv);
  EXPECT_EQ(transcript_.reports()[0].environment_output, kOut);
  EXPECT_EQ(transcript_.reports()[1].kind, NameReport::Kind::kCaught);
  EXPECT_TRUE(transcript_.complete());
}

TEST_F(DriverTranscriptTest, TheWordsOfADeathAreThoseSinceTheLastLine) {
  transcript_.Take("warning: of before");
  Take({"trace: @B a"});
  transcript_.Take("trace: a package's own words");
  transcript_.Take("error: attribute 'x' missing");
  EXPECT_TRUE(transcript_.in_name());
  EXPECT_EQ(transcript_.words(), "error: attribute 'x' missing\n");
}

TEST_F(DriverTranscriptTest, WhatTheSliceHasByNameComesBeforeTheFirstName) {
  Take({"trace: @P"});
  EXPECT_TRUE(transcript_.in_slice());
  EXPECT_FALSE(transcript_.named().has_value());
  Take({absl::StrCat("trace: @Q {\"cudnn\":\"", kDrv, "\",\"nccl\":3,\"magma\":\"/etc/passwd.drv\"}"),
        "trace: @B a"});
  EXPECT_EQ(*transcript_.named(), (std::map<std::string, std::string>{{"cudnn", kDrv}}));
  EXPECT_FALSE(transcript_.Take("trace: @P"));
}

TEST_F(DriverTranscriptTest, AQuestionThatIsRefusedHasItsFirstRefusal) {
  Take({"trace: @B a", Derived("R", "a"), "trace: @H attribute", "trace: @H name",
        "trace: @U {\"message\":\"cudnn is unfree\\n\\na) allow it\"}", 
        "trace: @H meta", "trace: @A {\"id\":\"a\",\"meta\":{\"hygiene\":[\"name\",\"meta\"]}}"});
  EXPECT_EQ(
      transcript_.reports()[0].facts.hygiene,
      (std::vector<std::string>{"name: cudnn is unfree", "meta: cannot be told where unfree is refused"}));
}

TEST_F(DriverTranscriptTest, WithAMarkNoOtherLineIsTheDrivers) {
  DriverTranscript marked({"a"}, "5eed");
  for (const char* line :
       {"trace: @B a", "trace: @5eeB a", "trace: @5eed", "trace: @5eed B a", "trace: @5eedBa"}) {
    EXPECT_FALSE(marked.Take(line)) << line;
  }
  EXPECT_TRUE(marked.Take("trace: @5eedB a"));
  EXPECT_FALSE(marked.Take(Derived("R", "a")));
  EXPECT_TRUE(marked.Take("trace: @5eedT a"));
  EXPECT_EQ(marked.reports()[0].kind, NameReport::Kind::kCaught);
}

TEST_F(DriverTranscriptTest, WhatAPackageTracesIsNotTheDriver) {
  for (const char* line :
       {"trace: @R {\"id\":\"a\"}", "trace: @Z", "trace: @B b", "trace: @", "trace: @B", "@B a"}) {
    EXPECT_FALSE(transcript_.Take(line)) << line;
  }
  Take({"trace: @B a"});
  for (const std::string& line :
       {Derived("R", "b"), std::string("trace: @T b"), std::string("trace: @B b"), std::string("trace: @Z")}) {
    EXPECT_FALSE(transcript_.Take(line)) << line;
  }
  EXPECT_TRUE(transcript_.reports().empty());
}

TEST_F(DriverTranscriptTest, ALineThatCannotBeReadIsItsOwnNamesMatter) {
  Take({"trace: @B a", "trace: @R {\"id\":\"a\",\"name\":\"cut", "trace: @B b", Derived("R", "b"),
        "trace: @E {\"id\":\"b\",\"cut", "trace: @A {\"id\":\"b\",\"cut", "trace: @Z"});
  EXPECT_EQ(transcript_.reports()[0].kind, NameReport::Kind::kGarbled);
  EXPECT_EQ(transcript_.reports()[1].kind, NameReport::Kind::kDerivation);
  EXPECT_EQ(transcript_.reports()[1].environment, "");
}

TEST_F(DriverTranscriptTest, BytesThatAreNoTextHideNothing) {
  Take({"trace: @B a", absl::StrCat("trace: @R {\"id\":\"a\",\"name\":\"\xff\",\"drvPath\":\"", kDrv,
                                    "\",\"outputs\":{\"out\":\"", kOut, "\"}}")});
  EXPECT_EQ(transcript_.reports()[0].derivation, kDrv);
}

TEST_F(DriverTranscriptTest, ARefusalThatIsToldAgainIsNoNews) {
  Take({"trace: @B a", Derived("R", "a"), "trace: @H name", "trace: @U {\"message\":\"x\"}"});
  EXPECT_FALSE(transcript_.Take("trace: @U {\"message\":\"x\"}"));
}

TEST_F(DriverTranscriptTest, ADerivationElsewhereIsGarbled) {
  Take({"trace: @B a", Derived("R", "a", "/etc/passwd.drv")});
  EXPECT_EQ(transcript_.reports()[0].kind, NameReport::Kind::kGarbled);
  EXPECT_EQ(transcript_.reports()[0].message,
            "its drvPath \"/etc/passwd.drv\" is no derivation in a Nix store");
}

TEST_F(DriverTranscriptTest, AMissingAttributeNamesWhatResemblesIt) {
  Take({"trace: @B a",
        R"(trace: @M {"id":"a","message":"attribute 'torhc' missing","available":["torch","torchvision"]})"});
  EXPECT_EQ(transcript_.reports()[0].message, "attribute 'torhc' missing; there are torch, torchvision");
}

TEST_F(DriverTranscriptTest, WithoutAnEnvironmentTheReasonStays) {
  Take({"trace: @B a", Derived("R", "a"), R"(trace: @F {"id":"a","message":"no interpreter"})"});
  EXPECT_TRUE(transcript_.in_details());
  EXPECT_EQ(transcript_.reports()[0].message, "no Python environment: no interpreter");
}

TEST_F(DriverTranscriptTest, TheSlicesRecipeComesFirstAndOnce) {
  Take({R"(trace: @S {"recipe":"2022","why":"it has pkgs/top-level/cuda-packages.nix"})"});
  EXPECT_FALSE(transcript_.Take(R"(trace: @S {"recipe":"2025","why":"a package says so"})"));
  Take({"trace: @B a"});
  EXPECT_EQ(transcript_.recipe(), "2022");
  EXPECT_EQ(transcript_.recipe_why(), "it has pkgs/top-level/cuda-packages.nix");
}

TEST_F(DriverTranscriptTest, FactsAreRead) {
  Take(
      {"trace: @B a", Derived("R", "a"),
       R"(trace: @A {"id":"a","meta":{"licences":[{"name":"bsd3","free":true},{"name":"CUDA EULA","free":false}],)"
       R"("broken":false,"unfree":true,"cudaSupport":true,"cudaVersion":"12.9","cudaCapabilities":["8.9","9.0a"],)"
       R"("pythonVersion":"3.12","unfreeThrough":{"package":"cudnn-9.1","licence":"cuDNN EULA","inputs":["jaxlib-0.4"]}}})"});
  const VariantFacts facts{.licences = {{"bsd3", true}, {"CUDA EULA", false}},
                           .unfree_through = "cudnn-9.1",
                           .unfree_licence = "cuDNN EULA",
                           .unfree_inputs = {"jaxlib-0.4"},
                           .broken = false,
                           .unfree = true,
                           .cuda_support = true,
                           .cuda_version = "12.9",
                           .cuda_capabilities = {"8.9", "9.0a"},
                           .python_version = "3.12"};
  EXPECT_EQ(transcript_.reports()[0].facts, facts);
}

TEST_F(DriverTranscriptTest, FactsOfAnotherShapeAreNone) {
  Take(
      {"trace: @B a", Derived("R", "a"),
       R"(trace: @A {"id":"a","meta":{"licences":"bsd3","broken":"yes","cudaVersion":12.9,"cudaCapabilities":[8.9],)"
       R"("unfreeThrough":["cudnn"]}})",
       "trace: @B b", Derived("R", "b"), R"(trace: @A {"id":"b","meta":[1]})"});
  EXPECT_EQ(transcript_.reports()[0].facts, VariantFacts());
  EXPECT_EQ(transcript_.reports()[1].facts, VariantFacts());
}

TEST_F(DriverTranscriptTest, AnotherNameIsTold) {
  Take({"trace: @B a",
        absl::StrCat("trace: @R {\"id\":\"a\",\"drvPath\":\"", kDrv, "\",\"outputs\":{\"out\":\"", kOut,
                     "\"},\"foundAs\":\"python3Packages.pytorch\"}"),
        R"(trace: @F {"id":"a","message":"no interpreter"})"});
  EXPECT_EQ(transcript_.reports()[0].facts.found_as, "python3Packages.pytorch");
  EXPECT_EQ(transcript_.reports()[0].message,
            "found as python3Packages.pytorch; no Python environment: no interpreter");
}

TEST_F(DriverTranscriptTest, NothingBeginsWhenTheSetItselfIsRefused) {
  Take({"trace: @X", "trace: @Z"});
  EXPECT_TRUE(transcript_.nothing_begins());
  EXPECT_TRUE(transcript_.complete());
}

TEST_F(DriverTranscriptTest, GarbageIsBounded) {
  for (int i = 0; i < 1000; ++i) transcript_.Take(std::string(10000, 'x'));
  EXPECT_LE(transcript_.words().size(), 128u << 10);
}

}  // namespace
}  // namespace hydrant
