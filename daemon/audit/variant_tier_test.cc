#include "daemon/audit/variant_tier.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

TEST(VariantTierTest, AVariantIsAsPrivateAsWhatGoesIntoIt) {
  Matrix matrix;
  matrix.licence_declared = true;
  matrix.licence_public = {"free", "cuDNN EULA"};
  const LicencePolicy policy(matrix);
  const struct {
    const char* situation;
    VariantFacts facts;
    Tier tier;
  } kRows[] = {
      {"free", {.licences = {{"bsd3", true}}}, Tier::kPublic},
      {"its own licence", {.licences = {{"CUDA EULA", false}}}, Tier::kPrivate},
      {"through an input",
       {.licences = {{"bsd3", true}}, .unfree_through = "cudatoolkit-12.9.1", .unfree_licence = "CUDA EULA"},
       Tier::kPrivate},
      {"through one that is public",
       {.licences = {{"bsd3", true}}, .unfree_through = "cudnn-9.1", .unfree_licence = "cuDNN EULA"},
       Tier::kPublic},
      {"nothing is known", {}, Tier::kPrivate},
      {"only meta says that it is free", {.unfree = false}, Tier::kPublic},
      {"only meta says that it is not", {.unfree = true}, Tier::kPrivate},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(TierOfVariant(policy, row.facts), row.tier) << row.situation;
    EXPECT_EQ(TierOfVariant(LicencePolicy(), row.facts), Tier::kPublic) << row.situation;
  }
}

}  // namespace
}  // namespace hydrant
