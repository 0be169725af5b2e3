#include "daemon/cache/content_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/cache/test_cache.h"

namespace hydrant {
namespace {

using testing::HasSubstr;

// Made by Nix 2.8: nix-store --add, --add-fixed and builtins.toFile, of a file "hello" and a folder.
struct Golden {
  const char* address;
  const char* path;
};
constexpr Golden kGolden[] = {
    {"fixed:r:sha256:0sg9f58l1jj88w6pdrfdpj5x9b1zrwszk84j81zvby36q9whhhqa",
     "/nix/store/664yy119pds2n905bls61j77r67z57cw-f"},
    {"fixed:sha256:094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic",
     "/nix/store/4c6wsvi6cnq8h7ibg70pv68bi43y92xs-f"},
    {"fixed:md5:4jqlbi14cxf6wpcajbphm40hax", "/nix/store/hqmc7r1nclkn3yiaday2b4abpi6qpa6z-f"},
    {"fixed:r:sha1:b26vfr7h58bbbkvb0ywr2wli35i9rfnn", "/nix/store/jb2smd8s0iy1n0ynma42h1l2gr3amrbq-d"},
    {"text:sha256:094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic",
     "/nix/store/vqpn17r03lqabwk0wksgpbgy620zwfd4-t"},
};

TEST(ContentAddressTest, PathsAreThoseOfNix) {
  for (const Golden& golden : kGolden) {
    const auto expected = *nix::StorePath::Parse(golden.path);
    const auto path = PathOfContent(golden.address, expected.name(), {}, false);
    ASSERT_TRUE(path.ok()) << path.status();
    EXPECT_EQ(*path, golden.path);
  }
}

TEST(ContentAddressTest, ReferencesOfATextCount) {
  const auto reference = *nix::StorePath::Parse(kGolden[4].path);
  EXPECT_EQ(*PathOfContent("text:sha256:1wqsgjcknyvmikc6pz4l0r7fxnrzcrp7gz68phw3qsicc8032ga9", "u",
                           {reference}, false),
            "/nix/store/ck6n3v0ycjyq106j4lq2m4yhzbc67zbl-u");
}

TEST(ContentAddressTest, GarbageIsNamed) {
  for (const char* bad :
       {"fixed", "fixed:r:sha256:xyz", "text:r:sha256:094qif9n4cq4fdg459qzbhg1c6wywawwaaivx0k0x8xhbyx4vwic",
        "text:md5:4jqlbi14cxf6wpcajbphm40hax", "fixed:crc:00", "other:sha256:0"}) {
    const auto path = PathOfContent(bad, "x", {}, false);
    EXPECT_EQ(path.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(path.status().message()), HasSubstr(bad));
  }
}

TEST(ContentAddressTest, ARecursiveAddressMustBeTheNarHash) {
  Package a = MakePackage("a");
  a.info.content_address = "fixed:r:" + nix::HashSha256("other").ToNixString();
  a.info.store_path = *nix::StorePath::Parse(*PathOfContent(a.info.content_address, "a", {}, false));
  EXPECT_THAT(std::string(CheckContentAddress(a.info).message()), HasSubstr("is not the NarHash"));
  a.info.content_address = "fixed:r:" + a.info.nar_hash.ToNixString();
  a.info.store_path = *nix::StorePath::Parse(*PathOfContent(a.info.content_address, "a", {}, false));
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
