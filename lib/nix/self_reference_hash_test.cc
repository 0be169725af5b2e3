#include "lib/nix/self_reference_hash.h"

#include <gtest/gtest.h>

namespace hydrant::nix {
namespace {

const std::string kHashPart = "0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d";

Sha256Digest InBlocks(const std::string& bytes, size_t block,
                      SelfReferencePlaces places = SelfReferencePlaces::kCount) {
  SelfReferenceHash hash(kHashPart, places);
  for (size_t at = 0; at < bytes.size(); at += block)
    EXPECT_TRUE(hash.Write(std::string_view(bytes).substr(at, block)).ok());
  return hash.Finish().value();
}

TEST(SelfReferenceHashTest, WithoutAReferenceItIsTheHash) {
  EXPECT_EQ(InBlocks("plain", 2), HashSha256("plain"));
  EXPECT_EQ(InBlocks(std::string(100, 'x'), 7), HashSha256(std::string(100, 'x')));
  EXPECT_EQ(SelfReferenceHash(kHashPart).Finish().value(), HashSha256(""));
}

TEST(SelfReferenceHashTest, PlacesCountAndTheHashPartDoesNotHoweverItIsCut) {
  const std::string zeros(kHashPart.size(), '\0');
  const std::string text = "ab" + kHashPart + kHashPart + "c" + kHashPart.substr(1);
  const std::string zeroed = "ab" + zeros + zeros + "c" + kHashPart.substr(1);
  for (const size_t block : {1, 5, 32, 33, 1000}) {
    EXPECT_EQ(InBlocks(text, block), HashSha256(zeroed + "|2|34")) << block;
    EXPECT_EQ(InBlocks(text, block, SelfReferencePlaces::kIgnored), HashSha256(zeroed)) << block;
  }
}

}  // namespace
}  // namespace hydrant::nix
