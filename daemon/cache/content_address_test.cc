#include "daemon/cache/content_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/cache/test_cache.h"
#include "lib/nix/content_address.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

nix::StorePath PathOf(const std::string& address, std::string_view name) {
  return *nix::PathOfContent(*nix::ContentAddress::Parse(address), name);
}

TEST(ContentAddressTest, WhatNobodyHereCanComputeIsRefused) {
  Package a = MakePackage("a");
  for (const char* kind : {"fixed:git:sha256:", "fixed:r:blake3:"}) {
    a.info.content_address = kind + nix::HashSha256("x").ToBase32();
    a.info.store_path = PathOf(a.info.content_address, "a");
    EXPECT_THAT(std::string(CheckContentAddress(a.info).message()), HasSubstr("is not checked")) << kind;
  }
}

TEST(ContentAddressTest, ARecursiveAddressMustBeTheNarHash) {
  Package a = MakePackage("a");
  a.info.content_address = "fixed:r:" + nix::HashSha256("other").ToNixString();
  a.info.store_path = PathOf(a.info.content_address, "a");
  EXPECT_THAT(std::string(CheckContentAddress(a.info).message()), HasSubstr("is not the NarHash"));
  a.info.content_address = "fixed:r:" + a.info.nar_hash.ToNixString();
  a.info.store_path = PathOf(a.info.content_address, "a");
  EXPECT_TRUE(CheckContentAddress(a.info).ok());
}

TEST(FlatFileHashTest, HashesTheFileInTheArchiveHoweverItIsCut) {
  const std::string content(1000, 'z'), nar = NarOf(content);
  for (size_t block : {size_t{1}, size_t{7}, nar.size()}) {
    FlatFileHash hash;
    for (size_t at = 0; at < nar.size(); at += block)
      ASSERT_TRUE(hash.Write(std::string_view(nar).substr(at, block)).ok());
    EXPECT_EQ(*hash.Finish(), nix::HashSha256(content));
  }
}

TEST(FlatFileHashTest, AnotherArchiveIsRefused) {
  FlatFileHash hash;
  std::string nar = NarOf("x");
  nar[40] = 'd';
  EXPECT_FALSE(hash.Write(nar + std::string(200, 'x')).ok());
}

}  // namespace
}  // namespace hydrant
