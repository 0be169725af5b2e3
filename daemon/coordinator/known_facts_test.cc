// What an evaluation learned of a variant stays with it.
#include "daemon/coordinator/known_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

class KnownFactsTest : public FarmTest {
 protected:
  GridVariant Of(const std::string& package, EvaluationId id = {}) {
    auto grid = farm().Grid("m", id);
    for (const GridVariant& variant : grid.value().variants) {
      if (variant.record.package == package) return variant;
    }
    ADD_FAILURE() << "no variant of " << package;
    return {};
  }
  void EvaluateTwo() {
    SetPackages("torch: cudatoolkit\ncudatoolkit\nplain");
    facts_["torch"] = {.licences = {{"bsd3", true}}, .unfree_through = "cudatoolkit-12.9.1", .unfree_licence = "CUDA EULA",
                       .cuda_support = true};
    Declare("m", {"torch", "plain", "absent"});
    TriggerAndEvaluate("m");
  }
};

TEST_F(KnownFactsTest, TheGridSaysWhatHydraWouldSkip) {
  EvaluateTwo();
  EXPECT_EQ(Of("torch").hydra.reason, "unfree: CUDA EULA, through cudatoolkit-12.9.1");
  EXPECT_EQ(Of("plain").hydra.skips, std::nullopt);
  EXPECT_EQ(Of("plain").facts, nullptr);
  EXPECT_EQ(Of("absent").hydra.skips, std::nullopt);
}

TEST_F(KnownFactsTest, FactsAreThereAfterARestart) {
  EvaluateTwo();
  Restart();
  EXPECT_EQ(*Of("torch").facts, facts_["torch"]);
  EXPECT_EQ(Of("torch").hydra.skips, true);
}

TEST_F(KnownFactsTest, ANewEvaluationForgetsThoseOfTheOldOne) {
  EvaluateTwo();
  facts_.clear();
  const EvaluationId next = TriggerAndEvaluate("m");
  EXPECT_EQ(Of("torch", next).facts, nullptr);
  EXPECT_NE(Of("torch", {1}).facts, nullptr);
}

TEST_F(KnownFactsTest, AVariantThatARuleRefusesKeepsItsFactsAndWhatHydraWouldDo) {
  SetPackages("torch");
  facts_["torch"] = {.licences = {{"CUDA EULA", false}}, .cuda_support = false};
  Declare("m", {"torch"}, "cuda = [\"12.9\"]\n[audit]\nrefuse = [\"cuda_support\"]\n");
  TriggerAndEvaluate("m");
  ASSERT_EQ(Of("torch").record.cause, Cause::kAuditFailed);
  EXPECT_EQ(*Of("torch").facts, facts_["torch"]);
  EXPECT_EQ(Of("torch").hydra.reason, "unfree: CUDA EULA");
}

TEST_F(KnownFactsTest, AVariantThatWasCancelledKeepsItsFacts) {
  EvaluateTwo();
  ASSERT_TRUE(farm().Cancel({.address = "torch@*", .matrix = "m"}).ok());
  ASSERT_EQ(Of("torch").record.cause, Cause::kCancelled);
  EXPECT_EQ(*Of("torch").facts, facts_["torch"]);
  EXPECT_EQ(Of("torch").hydra.skips, std::nullopt);
}

TEST_F(KnownFactsTest, WhatARuleRefusedIsNotJudged) {
  SetPackages("torch");
  Declare("m", {"torch"}, "[[exclude]]\npackage = \"torch\"\nreason = \"not wanted\"\n");
  TriggerAndEvaluate("m");
  EXPECT_EQ(Of("torch").hydra, HydraVerdict{});
}

}  // namespace
}  // namespace hydrant
