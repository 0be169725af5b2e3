// How private what passed becomes, and what an audit keeps from being built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/coordinator/farm_fixture.h"
#include "daemon/record/narinfo_state.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

class PublishingTest : public FarmTest {
 protected:
  PublishingTest() {
    SetPackages("torch: cuda_cudart-12.9.79 libc\nnumpy: libc\nlibc\ncuda_cudart-12.9.79");
    facts_["torch"] = {
        .licences = {{"bsd3", true}}, .unfree_through = "cuda_cudart-12.9.79", .unfree_licence = "CUDA EULA"};
    facts_["numpy"] = {.licences = {{"bsd3", true}}};
  }
  void Build() {
    TestWorker worker("w1", farm());
    for (worker.Sync(); !worker.Held().empty(); worker.Sync()) {
      for (const auto& [what, assignment] : worker.held()) {
        EXPECT_TRUE(Upload(what).ok());
        EXPECT_TRUE(worker.End(what, Cause::kNone).ok());
      }
    }
  }
  void DeclareAndBuild(const std::string& matrix, const std::vector<std::string>& packages,
                       const std::string& more) {
    Declare(matrix, packages, more);
    TriggerAndEvaluate(matrix);
    Build();
  }
  std::string TierOf(const std::string& name) {
    const auto info = daemon_->catalogue.FindPath(OutputOf(name));
    if (info == nullptr || info->state != NarInfoState::kPublished) return StateOfPath(name);
    return std::string(NarInfoTierName(info->tier));
  }
};
constexpr char kFreeOnly[] = "[license]\npublic = [\"free\"]\n";

TEST_F(PublishingTest, WhatALicenceKeepsPrivateIsPublishedAsThat) {
  DeclareAndBuild("m", {"torch"}, kFreeOnly);
  EXPECT_EQ(States(), "torch:cached");
  EXPECT_EQ(TierOf("torch"), "private");
  EXPECT_EQ(TierOf("cuda_cudart-12.9.79"), "private");
  EXPECT_EQ(TierOf("libc"), "held");
}

TEST_F(PublishingTest, WhatAPublicVariantNeedsIsOpenedForIt) {
  DeclareAndBuild("m", {"torch"}, kFreeOnly);
  DeclareAndBuild("n", {"numpy"}, kFreeOnly);
  EXPECT_EQ(TierOf("numpy"), "public");
  EXPECT_EQ(TierOf("libc"), "public");
  EXPECT_EQ(TierOf("torch"), "private");
}

TEST_F(PublishingTest, WhatIsHeldIsOpenedAsAVariantOfItsOwnToo) {
  facts_["libc"] = {.licences = {{"lgpl2", true}}};
  DeclareAndBuild("m", {"torch"}, kFreeOnly);
  DeclareAndBuild("n", {"libc"}, kFreeOnly);
  EXPECT_EQ(States("n"), "libc:cached");
  EXPECT_EQ(TierOf("libc"), "public");
}

TEST_F(PublishingTest, OfTwoMatricesThatShareAVariantThePublicOneDecides) {
  Declare("m", {"torch"}, kFreeOnly);
  Declare("n", {"torch"});
  TriggerAndEvaluate("m");
  TriggerAndEvaluate("n");
  Build();
  EXPECT_EQ(TierOf("torch"), "public");
  EXPECT_FALSE(farm().MadeInPrivate(DrvOf("torch")));
}

TEST_F(PublishingTest, OfTwoVariantsOfOneMatrixThatShareADerivationThePrivateOneDecides) {
  Declare("m", {"numpy"}, std::string("cuda = [\"12.9\", \"13.0\"]\n") + kFreeOnly);
  Trigger("m");
  const auto task = farm().TakeRequested();
  ASSERT_TRUE(task.ok() && task->has_value());
  ASSERT_TRUE(farm().SetRevision((*task)->id, "r1").ok());
  OutcomeBatch batch = Outcomes(**task, (*task)->variants);
  ASSERT_EQ(batch.outcomes.size(), 2u);
  batch.outcomes[1].facts.licences = {{"CUDA EULA", false}};
  ASSERT_TRUE(farm().AddOutcomes((*task)->id, std::move(batch)).ok());
  ASSERT_TRUE(farm().FinishEvaluation((*task)->id, absl::OkStatus()).ok());
  EXPECT_TRUE(farm().MadeInPrivate(DrvOf("numpy")));
  Build();
  EXPECT_EQ(States(), "numpy:cached numpy:cached");
  EXPECT_EQ(TierOf("numpy"), "private");
}

TEST_F(PublishingTest, WithoutLicenceListsEverythingIsPublic) {
  DeclareAndBuild("m", {"torch"}, "");
  EXPECT_EQ(TierOf("torch"), "public");
  EXPECT_EQ(TierOf("cuda_cudart-12.9.79"), "public");
}

TEST_F(PublishingTest, TiersAreThereAfterARestart) {
  DeclareAndBuild("m", {"torch"}, kFreeOnly);
  Restart();
  EXPECT_EQ(TierOf("torch"), "private");
  EXPECT_EQ(TierOf("libc"), "held");
  EXPECT_TRUE(farm().MadeInPrivate(DrvOf("torch")));
}

TEST_F(PublishingTest, LogsOfWhatAPrivateVariantNeedsAreAsPrivateAsItsOutputs) {
  Declare("m", {"torch"}, kFreeOnly);
  TriggerAndEvaluate("m");
  EXPECT_TRUE(farm().MadeInPrivate(DrvOf("libc"))) << "not published yet";
  Build();
  EXPECT_TRUE(farm().MadeInPrivate(DrvOf("cuda_cudart-12.9.79")));
  EXPECT_TRUE(farm().MadeInPrivate(DrvOf("libc"))) << "held";
  DeclareAndBuild("n", {"numpy"}, kFreeOnly);
  EXPECT_FALSE(farm().MadeInPrivate(DrvOf("libc")));
  EXPECT_TRUE(farm().MadeInPrivate("/nix/store/none.drv"));
}

TEST_F(PublishingTest, WithoutLicenceListsEveryLogIsPublic) {
  Declare("m", {"torch"});
  TriggerAndEvaluate("m");
  EXPECT_FALSE(farm().MadeInPrivate(DrvOf("cuda_cudart-12.9.79"))) << "not published yet";
  Build();
  EXPECT_FALSE(farm().MadeInPrivate(DrvOf("cuda_cudart-12.9.79")));
}

TEST_F(PublishingTest, ARuleThatRefusesFailsTheVariantBeforeAnythingIsBuilt) {
  SetPackages(
      "torch: cuda_cudart-12.9.79 magma\nmagma: "
      "cuda_cudart-11.8.89\ncuda_cudart-12.9.79\ncuda_cudart-11.8.89");
  Declare("m", {"torch", "magma"}, "cuda = [\"12.9\"]\n[audit]\nrefuse = [\"two_cuda_releases\"]\n");
  TriggerAndEvaluate("m");
  EXPECT_EQ(View("torch").state, VariantState::kFailed);
  EXPECT_EQ(View("torch").cause, "audit_failed");
  EXPECT_THAT(View("torch").message, HasSubstr("torch → magma → cuda_cudart-11.8.89"));
  TestWorker worker("w1", farm());
  worker.Sync();
  EXPECT_EQ(worker.Held(), "cuda_cudart-11.8.89") << "magma's, not torch's";
  Build();
  EXPECT_EQ(View("magma").state, VariantState::kCached);
  EXPECT_EQ(StateOfEvaluation(), "settled");
  Restart();
  EXPECT_EQ(View("torch").cause, "audit_failed");
}

}  // namespace
}  // namespace hydrant
