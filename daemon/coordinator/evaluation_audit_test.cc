// Findings and tiers of an evaluation's variants, from their outcomes into the record.
#include "daemon/coordinator/evaluation_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/coordinator/farm_fixture.h"

namespace hydrant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EvaluationAuditTest : public FarmTest {
 protected:
  VariantRecord Of(const std::string& package) {
    auto grid = farm().Grid("m", {});
    for (const GridVariant& variant : grid.value().variants) {
      if (variant.record.package == package) return variant.record;
    }
    ADD_FAILURE() << "no variant of " << package;
    return {};
  }
  std::vector<std::string> RulesOf(const std::string& package) {
    std::vector<std::string> rules;
    for (const Finding& finding : Of(package).findings) rules.push_back(finding.rule);
    return rules;
  }
  // Hands in the outcomes of one half of a task after the other, without its end.
  EvaluationId EvaluateWithoutEnd() {
    Trigger("m");
    auto task = farm().TakeRequested();
    EXPECT_TRUE(farm().SetRevision((*task)->id, "r1").ok());
    for (size_t variant : (*task)->variants) {
      EXPECT_TRUE(farm().AddOutcomes((*task)->id, Outcomes(**task, {variant})).ok());
    }
    return (*task)->id;
  }

  const std::string leak_ = "torch: cuda_cudart-12.9.79 magma\nmagma: cuda_cudart-11.8.89\ncuda_cudart-12.9.79\ncuda_cudart-11.8.89";
  const std::string two_nccls_ = "a: nccl-2.20\nb: nccl-2.20\nodd: nccl-2.21\nnccl-2.20\nnccl-2.21";
};

TEST_F(EvaluationAuditTest, ALeakIsToldWithItsOutcomeAndWithTheWayToIt) {
  SetPackages(leak_);
  Declare("m", {"torch", "magma"}, "cuda = [\"12.9\"]\n");
  EvaluateWithoutEnd();
  ASSERT_THAT(RulesOf("torch"), ElementsAre("two_cuda_releases"));
  EXPECT_THAT(Of("torch").findings[0].path, ElementsAre("torch", "magma", "cuda_cudart-11.8.89"));
  EXPECT_EQ(farm().Totals().findings["m"]["two_cuda_releases"], 1);
}

TEST_F(EvaluationAuditTest, ALibraryThatIsNotTheSlicesOwnIsToldOnceAllAreKnown) {
  SetPackages(two_nccls_);
  Declare("m", {"odd", "a", "b"});
  const EvaluationId id = EvaluateWithoutEnd();
  EXPECT_THAT(RulesOf("odd"), IsEmpty());
  ASSERT_TRUE(farm().FinishEvaluation(id, absl::OkStatus()).ok());
  EXPECT_THAT(RulesOf("odd"), ElementsAre("named_package"));
  EXPECT_THAT(RulesOf("a"), IsEmpty());
}

TEST_F(EvaluationAuditTest, ALibraryThatTheSliceNamesIsItsOwnHoweverFewReachIt) {
  SetPackages(two_nccls_);
  Declare("m", {"odd", "a", "b"});
  for (const char* name : {"odd", "a", "b"}) facts_[name] = {.named = {{"nccl", DrvOf("nccl-2.21")}}};
  const EvaluationId id = EvaluateWithoutEnd();
  EXPECT_THAT(RulesOf("a"), ElementsAre("named_package")) << "known with its outcome";
  ASSERT_TRUE(farm().FinishEvaluation(id, absl::OkStatus()).ok());
  EXPECT_THAT(RulesOf("odd"), IsEmpty());
  EXPECT_THAT(RulesOf("a"), ElementsAre("named_package"));
  EXPECT_THAT(RulesOf("b"), ElementsAre("named_package"));
}

TEST_F(EvaluationAuditTest, ALibraryThatNoVariantReachesIsTheSlicesOwnAllTheSame) {
  SetPackages(two_nccls_);
  Declare("m", {"a", "b"});
  for (const char* name : {"a", "b"}) facts_[name] = {.named = {{"nccl", DrvOf("nccl-2.26")}}};
  TriggerAndEvaluate("m");
  ASSERT_THAT(RulesOf("a"), ElementsAre("named_package"));
  EXPECT_THAT(Of("a").findings[0].message, HasSubstr("the slice's own is nccl-2.26 ("));
}

TEST_F(EvaluationAuditTest, ALibraryThatTheSliceNamesMayRefuseAndOneThatMostHaveMayNot) {
  SetPackages(two_nccls_ + "\nlone: nccl-2.21");
  facts_["odd"] = {.named = {{"nccl", DrvOf("nccl-2.20")}}};
  Declare("m", {"odd", "a", "b", "lone"}, "[audit]\nrefuse = [\"named_package\"]\n");
  TriggerAndEvaluate("m");
  EXPECT_EQ(Of("odd").cause, Cause::kAuditFailed);
  EXPECT_THAT(Of("odd").message, HasSubstr("nccl-2.21"));
  ASSERT_THAT(RulesOf("lone"), ElementsAre("named_package"));
  EXPECT_EQ(Of("lone").findings[0].severity, Severity::kWarn);
  EXPECT_EQ(Of("lone").cause, Cause::kNone);
}

TEST_F(EvaluationAuditTest, AHarmlessQuestionThatIsRefusedIsTold) {
  SetPackages("torch");
  facts_["torch"] = {.hygiene = {"name: Package ‘cudatoolkit-12.2’ has an unfree license"}};
  Declare("m", {"torch"});
  TriggerAndEvaluate("m");
  ASSERT_THAT(RulesOf("torch"), ElementsAre("forces_unfree"));
  EXPECT_THAT(Of("torch").findings[0].message, HasSubstr("cudatoolkit-12.2"));
}

TEST_F(EvaluationAuditTest, AHarmlessQuestionThatIsRefusedMayRefuse) {
  SetPackages("torch\nmagma");
  facts_["torch"] = {.hygiene = {"name: Package ‘cudatoolkit-12.2’ has an unfree license"}};
  Declare("m", {"torch", "magma"}, "[nixpkgs]\nprobe = [\"hygiene\"]\n[audit]\nrefuse = [\"forces_unfree\"]\n");
  TriggerAndEvaluate("m");
  EXPECT_EQ(Of("torch").cause, Cause::kAuditFailed);
  EXPECT_TRUE(Of("torch").derivation.empty());
  EXPECT_EQ(Of("magma").cause, Cause::kNone);
}

TEST_F(EvaluationAuditTest, FindingsAndTierAreThereAfterARestart) {
  SetPackages(two_nccls_);
  Declare("m", {"odd", "a", "b"}, "[license]\npublic = [\"free\"]\n");
  facts_["a"] = {.licences = {{"bsd3", true}}};
  facts_["b"] = {.licences = {{"bsd3", true}}, .unfree_through = "cudnn-9.1", .unfree_licence = "cuDNN EULA"};
  TriggerAndEvaluate("m");
  Restart();
  EXPECT_THAT(RulesOf("odd"), ElementsAre("named_package"));
  EXPECT_EQ(Of("a").tier, "public");
  EXPECT_EQ(Of("b").tier, "private");
  EXPECT_EQ(Of("odd").tier, "private");  // of no known licence
}

TEST_F(EvaluationAuditTest, ARestartInItsMidstKeepsWhatWasFound) {
  SetPackages(leak_);
  Declare("m", {"torch", "magma"}, "cuda = [\"12.9\"]\n");
  EvaluateWithoutEnd();
  Restart();
  auto task = farm().TakeRequested();
  ASSERT_TRUE(task.ok() && task->has_value());
  ASSERT_TRUE(farm().FinishEvaluation((*task)->id, absl::OkStatus()).ok());
  EXPECT_THAT(RulesOf("torch"), ElementsAre("two_cuda_releases"));
}

TEST_F(EvaluationAuditTest, APackageThatIsNotWhatItsSliceAskedIsTold) {
  SetPackages("torch");
  Declare("m", {"torch"}, "cuda = [\"12.9\"]\n");
  facts_["torch"] = {.cuda_support = false, .cuda_version = "12.2"};
  TriggerAndEvaluate("m");
  EXPECT_THAT(RulesOf("torch"), ElementsAre("cuda_support", "cuda_version"));
}

TEST_F(EvaluationAuditTest, WithoutLicenceListsAllIsPublicAndWhatDidNotEvaluateHasNoTier) {
  SetPackages("mkl");
  facts_["mkl"] = {.licences = {{"unfree", false}}};
  Declare("m", {"mkl", "absent"});
  TriggerAndEvaluate("m");
  EXPECT_EQ(Of("mkl").tier, "public");
  EXPECT_EQ(Of("absent").tier, "");
}

}  // namespace
}  // namespace hydrant
