#include "daemon/evaluate/facts_text.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

TEST(FactsTextTest, ComesBackAsItWas) {
  const VariantFacts facts = {.licences = {{"CUDA EULA", false}, {"bsd3", true}},
                              .unfree_through = "cudatoolkit-12.9.1",
                              .unfree_licence = "CUDA EULA",
                              .unfree_inputs = {"magma-2.7"},
                              .marked_through = "openssl-1.1",
                              .mark = "insecure",
                              .marked_inputs = {"curl-8"},
                              .broken = false,
                              .unfree = true,
                              .insecure = false,
                              .unsupported = true,
                              .hydra_platform = false,
                              .cuda_support = true,
                              .rocm_support = false,
                              .cuda_version = "12.9",
                              .cuda_capabilities = {"8.9", "9.0a"},
                              .python_version = "3.12",
                              .found_as = "python3Packages.pytorch",
                              .recipe = "2022",
                              .recipe_why = "it has pkgs/top-level/cuda-packages.nix"};
  EXPECT_EQ(ParseFacts(FactsText(facts)), facts);
}

TEST(FactsTextTest, WhatTellsNothingIsNoText) {
  EXPECT_EQ(FactsText({}), "");
  EXPECT_EQ(ParseFacts(""), VariantFacts{});
}

TEST(FactsTextTest, TakesBytesThatAreNoUtf8) {
  const std::string text = FactsText({.licences = {{std::string("\xff\0x", 3), true}}});
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(ParseFacts(text).licences.size(), 1u);
}

TEST(FactsTextTest, WhatIsNoSuchTextTellsNothing) {
  for (const char* text : {"{", "[]", "null", "7", "{\"licences\": 1, \"broken\": \"yes\", \"foundAs\": []}"}) {
    EXPECT_EQ(ParseFacts(text), VariantFacts{}) << text;
  }
}

}  // namespace
}  // namespace hydrant
