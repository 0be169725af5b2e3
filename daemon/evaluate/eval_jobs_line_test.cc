#include "daemon/evaluate/eval_jobs_line.h"

#include <string>

#include "gtest/gtest.h"

namespace hydrant {
namespace {

using Part = EvalJobsLine::Part;

constexpr char kStem[] = "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-a";

std::string Line(const std::string& more, const std::string& path = R"(["i0","v12","facts"])") {
  return R"({"attr":"i0.v12.facts","attrPath":)" + path + "," + more + "}";
}

TEST(EvalJobsLineTest, ADerivationWithItsFacts) {
  const auto line =
      ParseEvalJobsLine(Line(R"("drvPath":")" + std::string(kStem) + R"(.drv","outputs":{"out":")" + kStem +
                             R"("},"meta":{"broken":false,
      "licences":[{"name":"CUDA EULA","free":false}],"cudaVersion":"12.9","foundAs":"torch"})"));
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->import, 0);
  EXPECT_EQ(line->name, 12);
  EXPECT_EQ(line->part, Part::kFacts);
  EXPECT_EQ(line->derivation, std::string(kStem) + ".drv");
  EXPECT_EQ(line->outputs.at("out"), kStem);
  EXPECT_EQ(line->facts.licences[0].name, "CUDA EULA");
  EXPECT_EQ(line->facts.cuda_version, "12.9");
  EXPECT_EQ(line->facts.found_as, "torch");
}

TEST(EvalJobsLineTest, AnErrorHasItsWordsOnly) {
  const auto line =
      ParseEvalJobsLine(Line(R"("error":"error: no such luck")", R"(["i3","v0","derivation"])"));
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->part, Part::kDerivation);
  EXPECT_EQ(line->error, "error: no such luck");
  EXPECT_EQ(line->derivation, "");
}

TEST(EvalJobsLineTest, WhatIsNoSuchLineIsNone) {
  for (const std::string& text :
       {std::string("warning: x"), std::string(), std::string("[]"), std::string("null"),
        Line(R"("error":"x")", R"([])"), Line(R"("error":"x")", R"(["i0"])"),
        Line(R"("error":"x")", R"(["i0","v","derivation"])"),
        Line(R"("error":"x")", R"(["i-1","v0","derivation"])"),
        Line(R"("error":"x")", R"(["i0","v0","other"])"), Line(R"("error":"x")", R"([0,1,2])"),
        Line(R"("drvPath":"/etc/passwd","outputs":{"out":"/x"})"),
        Line(R"("drvPath":")" + std::string(kStem) + R"(.drv","outputs":{})"),
        Line(R"("drvPath":")" + std::string(kStem) + R"(.drv","outputs":{"out":null})")}) {
    EXPECT_FALSE(ParseEvalJobsLine(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace hydrant
