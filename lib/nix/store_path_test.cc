#include "lib/nix/store_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/nix/hash.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

const std::string kHash = "0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d";

TEST(StorePathTest, PartsOfAPath) {
  const StorePath path = StorePath::Parse("/nix/store/" + kHash + "-hello-2.10.drv").value();
  EXPECT_EQ(path.hash_part(), kHash);
  EXPECT_EQ(path.name(), "hello-2.10.drv");
  EXPECT_EQ(path.base_name(), kHash + "-hello-2.10.drv");
  EXPECT_TRUE(path.is_derivation());
  EXPECT_EQ(StorePath::FromBaseName(path.base_name()).value(), path);
}

TEST(StorePathTest, DefaultIsEmptyInAllParts) {
  const StorePath path;
  EXPECT_TRUE(path.empty());
  EXPECT_EQ(path.base_name(), "");
  EXPECT_EQ(path.hash_part(), "");
  EXPECT_EQ(path.name(), "");
}

TEST(StorePathTest, AHashPartIsTwentyBytes) {
  const HashPart part = DecodeHashPart(kHash);
  EXPECT_EQ(EncodeHashPart(part), kHash);
  EXPECT_EQ(std::string(part.begin(), part.end()), FromBase32(kHash, part.size()).value());
}

struct Refusal {
  std::string path, why;
};

TEST(StorePathTest, RefusalSaysWhichPartIsWrong) {
  for (const Refusal& r :
       std::vector<Refusal>{{"", "expected /nix/store"},
                            {"/nix/store", "expected /nix/store"},
                            {"/nix/storex/" + kHash + "-a", "expected /nix/store"},
                            {"/nix/store/" + kHash, "\"-\" and a name"},
                            {"/nix/store/" + kHash + "-", "name is empty"},
                            {"/nix/store/" + kHash + "-.a", "begins with a dot"},
                            {"/nix/store/" + kHash + "-a/bin", "only letters"},
                            {"/nix/store/" + kHash + "-a b", "only letters"},
                            {"/nix/store/e" + kHash.substr(1) + "-a", "base32"},
                            {"/nix/store/short-a", "base32"},
                            {"/nix/store/" + kHash + "-" + std::string(212, 'a'), "longer than 211"}}) {
    const absl::Status status = StorePath::Parse(r.path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << r.path;
    EXPECT_THAT(std::string(status.message()), HasSubstr(r.why)) << r.path;
  }
  EXPECT_TRUE(StorePath::Parse("/nix/store/" + kHash + "-" + std::string(211, 'a')).ok());
}

}  // namespace
}  // namespace hydrant::nix
