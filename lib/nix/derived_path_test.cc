#include "lib/nix/derived_path.h"

#include <gtest/gtest.h>

namespace hydrant::nix {
namespace {

const std::string kPath = "/nix/store/0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-a", kDrv = kPath + ".drv";

TEST(DerivedPathTest, SpellingsComeBack) {
  for (const DerivedPath& path :
       {DerivedPath::Opaque(kPath), DerivedPath::Opaque(kDrv), DerivedPath::AllOutputs(kDrv),
        DerivedPath::Outputs(kDrv, {"out", "dev"})}) {
    EXPECT_EQ(DerivedPath::Parse(path.ToString()).value(), path);
  }
  EXPECT_EQ(DerivedPath::Outputs(kDrv, {"out", "dev"}).ToString(), kDrv + "!dev,out");
}

TEST(DerivedPathTest, WrongOnesSayWhy) {
  EXPECT_EQ(DerivedPath::Parse("/tmp/x!out").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DerivedPath::Parse(kPath + "!out").status().message(),
            kPath + " has no outputs: it is no derivation");
  EXPECT_EQ(DerivedPath::Parse(kDrv + "!").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DerivedPath::Parse(kDrv + "!a b").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DerivedPath::Outputs(kDrv, {}).Check().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hydrant::nix
