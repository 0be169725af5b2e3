#include "lib/matrix/licence.h"

#include <gtest/gtest.h>

namespace hydrant {
namespace {

LicencePolicy Policy(std::vector<std::string> open, std::vector<std::string> closed) {
  Matrix matrix;
  matrix.licence_declared = true;
  matrix.licence_public = std::move(open);
  matrix.licence_private = std::move(closed);
  return LicencePolicy(matrix);
}

TEST(LicenceTest, WhichTierALicenceIsOf) {
  const struct {
    const char* situation;
    std::vector<std::string> open, closed;
    const char* name;
    bool free;
    Tier tier;
  } kRows[] = {
      {"by kind", {"free"}, {}, "bsd3", true, Tier::kPublic},
      {"by name", {"CUDA EULA"}, {}, "CUDA EULA", false, Tier::kPublic},
      {"in other letters", {"cuda eula"}, {}, "CUDA EULA", false, Tier::kPublic},
      {"in neither", {"free"}, {"CUDA EULA"}, "cuDNN EULA", false, Tier::kPrivate},
      {"in the private one", {"free"}, {"CUDA EULA"}, "CUDA EULA", false, Tier::kPrivate},
      {"the kind is public, the name private", {"free"}, {"agpl3"}, "agpl3", true, Tier::kPrivate},
      {"the name is public, the kind private", {"CUDA EULA"}, {"unfree"}, "CUDA EULA", false, Tier::kPrivate},
      {"both kinds are public", {"free", "unfree"}, {}, "TensorRT EULA", false, Tier::kPublic},
      {"empty lists", {}, {}, "bsd3", true, Tier::kPrivate},
      {"a licence called free that is not", {"free"}, {}, "unfree", false, Tier::kPrivate},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(Policy(row.open, row.closed).OfLicence(row.name, row.free), row.tier) << row.situation;
  }
}

TEST(LicenceTest, WithoutATableEverythingIsPublic) {
  const LicencePolicy policy;
  EXPECT_EQ(policy.OfLicence("CUDA EULA", false), Tier::kPublic);
  EXPECT_EQ(policy.OfPackage({}), Tier::kPublic);
  EXPECT_EQ(policy.OfName("cudnn-9.7.1"), Tier::kPublic);
}

TEST(LicenceTest, APackageIsAsPrivateAsTheMostPrivateOfItsLicences) {
  const LicencePolicy policy = Policy({"free"}, {});
  const std::vector<LicencePolicy::Licence> free = {{"mit", true}, {"bsd3", true}},
                                            mixed = {{"mit", true}, {"CUDA EULA", false}};
  EXPECT_EQ(policy.OfPackage(free), Tier::kPublic);
  EXPECT_EQ(policy.OfPackage(mixed), Tier::kPrivate);
  EXPECT_EQ(policy.OfPackage({}), Tier::kPrivate);
}

TEST(LicenceTest, WhatTheVendorsLibrariesAreIsKnownByName) {
  const LicencePolicy policy = Policy({"free", "cuDNN EULA"}, {});
  const struct {
    const char* name;
    const char* tier;  // "": not known
  } kRows[] = {
      {"cudatoolkit-12.9.1", "private"},
      {"cuda_cudart-12.9.79-lib", "private"},
      {"cuda12.9-libcublas-12.9.1.4", "private"},
      {"cudnn-9.7.1", "public"},
      {"cuda12.9-cudnn-9.7.1", "public"},
      {"tensorrt-10.7", "private"},
      {"mkl-2023.1", "private"},
      {"nccl-2.21.5-1", ""},
      {"magma-2.7.1", ""},
      {"python3.12-torch-2.5.0", ""},
      {"cudnn-frontend", "public"},
      {"cuda", ""},
      {"cuda12.9", ""},
      {"mklink-1", ""},
      {"", ""},
  };
  for (const auto& row : kRows) {
    const std::optional<Tier> tier = policy.OfName(row.name);
    EXPECT_EQ(tier ? TierName(*tier) : "", row.tier) << row.name;
  }
  for (const KnownLicence& known : KnownLicences()) {
    EXPECT_TRUE(LicencePolicy().OfName(known.package)) << known.package;
  }
}

TEST(LicenceTest, TiersHaveNames) {
  EXPECT_EQ(ParseTier("public"), Tier::kPublic);
  EXPECT_EQ(ParseTier("private"), Tier::kPrivate);
  EXPECT_EQ(ParseTier("staged"), std::nullopt);
}

}  // namespace
}  // namespace hydrant
