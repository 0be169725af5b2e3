#include "lib/nix/signing_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"

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

TEST(SigningKeyTest, ForeignPublicHalfIsRefused) {
  const std::string ours = SecretKey::Generate("k").ToString(), other = SecretKey::Generate("k").ToString();
  // 64 bytes are 86 characters: the first 42 are of the seed alone, the last 40 of the public half alone.
  EXPECT_FALSE(SecretKey::Parse(ours.substr(0, 46) + other.substr(46)).ok());
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

}  // namespace
}  // namespace hydrant::nix
