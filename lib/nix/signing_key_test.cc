#include "lib/nix/signing_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SigningKeyTest, SignatureVerifiesWithItsKeyOnly) {
  const SecretKey key = SecretKey::Generate("cache-1"), other = SecretKey::Generate("cache-1");
  const std::string signature = key.Sign("text");
  EXPECT_TRUE(signature.starts_with("cache-1:"));
  EXPECT_TRUE(key.public_key().Verify("text", signature));
  EXPECT_FALSE(key.public_key().Verify("texT", signature));
  EXPECT_FALSE(other.public_key().Verify("text", signature));
  EXPECT_FALSE(key.public_key().Verify("text", "cache-2" + signature.substr(7)));
  EXPECT_FALSE(key.public_key().Verify("text", "garbage"));
}

TEST(SigningKeyTest, KeysComeBackFromText) {
  const SecretKey key = SecretKey::Generate("k");
  const SecretKey again = SecretKey::Parse(key.ToString() + "\n").value();
  EXPECT_EQ(again.Sign("x"), key.Sign("x"));
  EXPECT_EQ(PublicKey::Parse(key.public_key().ToString()).value().ToString(), key.public_key().ToString());
}

TEST(SigningKeyTest, ErrorsNeverQuoteTheSecret) {
  std::string text = SecretKey::Generate("mine").ToString();
  const std::string secret = text.substr(5, 20);
  text.resize(60);
  const absl::Status status = SecretKey::Parse(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("mine"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr(secret)));
  EXPECT_FALSE(SecretKey::Parse(secret).ok());
}

std::string SecretError(std::string_view text) {
  return std::string(SecretKey::Parse(text).status().message());
}

TEST(SigningKeyTest, EachWayToBeMalformedIsNamed) {
  const SecretKey key = SecretKey::Generate("k-1");
  EXPECT_EQ(SecretError(""), "secret key: it is empty, expected \"name:base64\"");
  EXPECT_EQ(SecretError("\n"), SecretError(""));
  EXPECT_EQ(SecretError("abc"), "secret key: there is no \":\", expected \"name:base64\"");
  EXPECT_EQ(SecretError(":abcd"), "secret key: the name before the \":\" is empty");
  EXPECT_EQ(SecretError("a b:abcd"), "secret key: the name holds a blank or control character");
  EXPECT_EQ(SecretError("k-1:a*cd"), "secret key \"k-1\": what follows the \":\" is no base64");
  EXPECT_EQ(SecretError("k-1:AAAA"),
            "secret key \"k-1\": expected the base64 of 64 bytes after the \":\", got 3");
  EXPECT_THAT(SecretError(key.public_key().ToString()), HasSubstr("got 32: this is a public key"));
  EXPECT_THAT(std::string(PublicKey::Parse(key.ToString()).status().message()),
              HasSubstr("got 64: this is a secret key"));
}

TEST(SigningKeyTest, NameAndSecretInTheWrongOrderAreNotQuoted) {
  const std::string text = SecretKey::Generate("mine").ToString(), secret = text.substr(5);
  EXPECT_THAT(SecretError(secret + ":mine"), Not(HasSubstr(secret.substr(0, 10))));
  EXPECT_THAT(SecretError(secret.substr(0, 44) + ":mine"), Not(HasSubstr(secret.substr(0, 10))));
}

TEST(SigningKeyTest, SignatureWithAnythingBehindItDoesNotVerify) {
  const SecretKey key = SecretKey::Generate("k");
  EXPECT_FALSE(key.public_key().Verify("x", key.Sign("x") + "\r")) << "Nix refuses it, too";
}

TEST(SigningKeyTest, ForeignPublicHalfIsRefused) {
  const std::string ours = SecretKey::Generate("k").ToString(), other = SecretKey::Generate("k").ToString();
  // 64 bytes are 86 characters: the first 42 are of the seed alone, the last 40 of the public half alone.
  EXPECT_FALSE(SecretKey::Parse(ours.substr(0, 46) + other.substr(46)).ok());
}

TEST(SigningKeyTest, NulAmongTheBase64IsNoPartOfIt) {
  const SecretKey key = SecretKey::Generate("k");
  for (const size_t position : {10, 40}) {
    std::string signature = key.Sign("text"), secret = key.ToString();
    EXPECT_FALSE(key.public_key().Verify("text", signature.insert(position, 1, '\0')));
    EXPECT_FALSE(SecretKey::Parse(secret.insert(position, 1, '\0')).ok());
  }
}

TEST(SigningKeyTest, KeyFilesOfNixAreOurs) {
  TestDir dir;
  const auto made = hydrant::Run(
      {.argv = {"nix-store", "--generate-binary-cache-key", "nix-made-1", dir / "secret", dir / "public"}});
  ASSERT_TRUE(made.ok() && made->status.ok());
  const SecretKey secret = SecretKey::Parse(ReadFile(dir / "secret").value()).value();
  EXPECT_EQ(secret.public_key().ToString(), ReadFile(dir / "public").value());
  EXPECT_EQ(secret.ToString(), ReadFile(dir / "secret").value());
}

// A path in a store of its own, and in a cache that we sign for.
TEST(SigningKeyTest, WhatNixSignsVerifiesAndWhatWeSignNixVerifies) {
  TestStore store;
  const auto nix = [&](std::vector<std::string> argv) {
    const auto done = store.Nix(std::move(argv));
    EXPECT_TRUE(done.ok() && done->status.ok()) << (done.ok() ? done->err : "");
    return done.ok() ? done->out : "";
  };
  const SecretKey key = SecretKey::Generate("ours-1");
  ASSERT_TRUE(WriteFileAtomically(store.dir() / "secret", key.ToString(), 0600).ok());
  ASSERT_TRUE(WriteFileAtomically(store.dir() / "file", "content").ok());
  std::string path = nix({"nix-store", "--add", store.dir() / "file"});
  path.pop_back();
  nix({"nix", "store", "sign", "-k", store.dir() / "secret", path});
  const std::string cache = "file://" + (store.dir() / "cache");
  nix({"nix", "copy", "--to", cache, path});

  const std::string file = store.dir() / absl::StrCat("cache/", path.substr(11, 32), ".narinfo");
  NarInfo info = ParseNarInfo(ReadFile(file).value()).value();
  ASSERT_EQ(info.signatures.size(), 1u);
  EXPECT_TRUE(key.public_key().Verify(Fingerprint(info), info.signatures[0]));

  const SecretKey second = SecretKey::Generate("ours-2");
  info.signatures = {second.Sign(Fingerprint(info))};
  info.content_address.clear();  // would do without a signature
  ASSERT_TRUE(WriteFileAtomically(file, PrintNarInfo(info)).ok());
  const std::vector<std::string> verify = {
      "nix",           "store", "verify", "--store",  cache,
      "--sigs-needed", "1",     path,     "--option", "trusted-public-keys"};
  const auto with = [&](const SecretKey& trusted) {
    std::vector<std::string> argv = verify;
    argv.push_back(trusted.public_key().ToString());
    return store.Nix(argv)->status.ok();
  };
  EXPECT_TRUE(with(second));
  EXPECT_FALSE(with(key));
}

}  // namespace
}  // namespace hydrant::nix
