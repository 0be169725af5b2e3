#include "lib/nix/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "lib/base/subprocess.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

// sha256 of "" in each of Nix's notations, as `nix-hash --to-…` and `nix hash to-sri` write them.
constexpr char kBase16[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kBase32[] = "0mdqa9w1p6cmli6976v4wi0sw9r4p5prkj7lzfd1877wk11c9c73";
constexpr char kSri[] = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

TEST(HashTest, EmptyTextHasTheKnownDigestInAllNotations) {
  const Sha256Digest digest = HashSha256("");
  EXPECT_EQ(digest.ToBase16(), kBase16);
  EXPECT_EQ(digest.ToBase32(), kBase32);
  EXPECT_EQ(digest.ToSri(), kSri);
  EXPECT_EQ(digest.ToNixString(), std::string("sha256:") + kBase32);
}

TEST(HashTest, EveryNotationIsRead) {
  for (const std::string& text :
       {std::string(kBase16), std::string(kBase32), std::string(kSri), std::string(kSri).substr(7),
        "sha256:" + std::string(kBase16), "sha256:" + std::string(kBase32)}) {
    EXPECT_EQ(Sha256Digest::Parse(text).value(), HashSha256("")) << text;
  }
}

TEST(HashTest, WrongHashesAreRefused) {
  for (const std::string& text :
       {std::string(), std::string("sha256:"), std::string(kBase16).substr(1),
        "sha512:" + std::string(kBase16), std::string(kBase32).replace(3, 1, "e"),
        "z" + std::string(kBase32).substr(1), "sha256-" + std::string(kBase16),
        std::string(kSri).replace(9, 1, "*"), "md5-" + std::string(kSri).substr(7)}) {
    EXPECT_EQ(Sha256Digest::Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(std::string(Sha256Digest::Parse("z" + std::string(kBase32).substr(1)).status().message()),
              HasSubstr("beyond the end"));
}

TEST(HashTest, Base32OfAnyLengthComesBack) {
  std::mt19937 random(3);
  for (size_t length = 0; length < 70; ++length) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(random());
    EXPECT_EQ(FromBase32(ToBase32(bytes), length).value(), bytes);
  }
}

TEST(HashTest, NixWritesTheSameBase32) {
  const auto nix = hydrant::Run(
      {.argv = {"nix-hash", "--type", "sha256", "--to-base32", HashSha256("hydrant").ToBase16()}});
  ASSERT_TRUE(nix.ok()) << nix.status();
  EXPECT_EQ(nix->out, HashSha256("hydrant").ToBase32() + "\n");
}

TEST(HashTest, EveryAlgorithmIsAsInNixInEveryNotation) {
  for (const std::string algorithm : {"md5", "sha1", "sha256", "sha512"}) {
    const Hash hash = Hash::Of(ParseHashAlgorithm(algorithm).value(), "hydrant").value();
    const auto convert = [&](const std::string& to) {
      return hydrant::Run({.argv = {"nix", "--extra-experimental-features", "nix-command", "hash", to,
                                    "--type", algorithm, hash.ToBase16()}})
          ->out;
    };
    EXPECT_EQ(convert("to-sri"), hash.ToSri() + "\n");
    EXPECT_EQ(convert("to-base32"), hash.ToBase32() + "\n");
    for (const std::string& text : {hash.ToSri(), hash.ToNixString(), algorithm + ":" + hash.ToBase16()})
      EXPECT_EQ(Hash::Parse(text).value(), hash) << text;
  }
}

TEST(HashTest, Blake3IsReadAndWrittenButNotComputed) {
  const std::string text = "blake3:" + std::string(kBase32);
  EXPECT_EQ(Hash::Parse(text)->ToNixString(), text);
  EXPECT_EQ(Hash::Of(HashAlgorithm::kBlake3, "").status().code(), absl::StatusCode::kUnimplemented);
}

TEST(HashTest, WrongHashesOfAnyAlgorithmSayWhatWasExpected) {
  const auto message = [](std::string_view text) {
    return std::string(Hash::Parse(text).status().message());
  };
  EXPECT_THAT(message("crc32:00"), HasSubstr("expected md5, sha1, sha256, sha512 or blake3"));
  EXPECT_THAT(message("md5:00"), HasSubstr("expected 26 base32, 32 base16 or 24 base64"));
  EXPECT_THAT(message("sha1-" + std::string(40, '0')), HasSubstr("expected 28 base64 characters"));
  EXPECT_THAT(message(kBase32), HasSubstr("expected ALGORITHM:HASH"));
}

TEST(HashTest, HashingInPiecesIsHashingAtOnce) {
  Sha256 hash;
  ASSERT_TRUE(hash.Write("hyd").ok());
  ASSERT_TRUE(hash.Write("").ok());
  ASSERT_TRUE(hash.Write("rant").ok());
  EXPECT_EQ(hash.size(), 7u);
  EXPECT_EQ(hash.Finish(), HashSha256("hydrant"));
}

}  // namespace
}  // namespace hydrant::nix
