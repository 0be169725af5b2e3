#include "daemon/serve/authenticator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/serve/tokens_file.h"
#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

class AuthenticatorTest : public testing::Test {
 protected:
  AuthenticatorTest() { EXPECT_TRUE(AddToken(file_, "anna", Role::kOperator, "secret").ok()); }
  TestDir dir_;
  const std::string file_ = dir_ / "tokens";
};

TEST_F(AuthenticatorTest, AKnownTokenHasItsNameAndRole) {
  auto authenticator = *Authenticator::Open(file_);
  const auto identity = authenticator->Identify("secret", false);
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->name, "anna");
  EXPECT_EQ(identity->role, Role::kOperator);
}

TEST_F(AuthenticatorTest, AnUnknownTokenIsNobodyAndAnEmptyOneToo) {
  auto authenticator = *Authenticator::Open(file_);
  EXPECT_EQ(authenticator->Identify("other", true).status().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(authenticator->Identify("", true).status().code(), StatusCode::kUnauthenticated);
}

TEST_F(AuthenticatorTest, WithoutATokenOneIsAReaderOnLoopbackOnly) {
  auto authenticator = *Authenticator::Open("");
  EXPECT_EQ(authenticator->Identify(std::nullopt, true)->role, Role::kReader);
  EXPECT_EQ(authenticator->Identify(std::nullopt, false)->role, Role::kNone);
}

TEST_F(AuthenticatorTest, AnAddedTokenCountsWithoutARestart) {
  auto authenticator = *Authenticator::Open(file_);
  ASSERT_TRUE(AddToken(file_, "w1", Role::kWorker, "other").ok());
  EXPECT_EQ(authenticator->Identify("other", false)->role, Role::kWorker);
}

TEST_F(AuthenticatorTest, ARemovedTokenDoesNot) {
  auto authenticator = *Authenticator::Open(file_);
  ASSERT_TRUE(WriteFileAtomically(file_, "# nobody\n").ok());
  EXPECT_EQ(authenticator->Identify("secret", false).status().code(), StatusCode::kUnauthenticated);
}

TEST_F(AuthenticatorTest, WhenTheFileGoesWrongTheLastGoodContentHolds) {
  auto authenticator = *Authenticator::Open(file_);
  ASSERT_TRUE(WriteFileAtomically(file_, "garbage\n").ok());
  EXPECT_TRUE(authenticator->Identify("secret", false).ok());
  unlink(file_.c_str());
  EXPECT_TRUE(authenticator->Identify("secret", false).ok());
  EXPECT_EQ(authenticator->Identify("other", false).status().code(), StatusCode::kUnauthenticated);
}

TEST_F(AuthenticatorTest, AFileThatCannotBeReadIsAnErrorAtStart) {
  const auto authenticator = Authenticator::Open(dir_ / "absent");
  EXPECT_EQ(authenticator.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(authenticator.status().message()), HasSubstr("absent"));
}

TEST_F(AuthenticatorTest, AWrongLineIsNamedByFileAndNumber) {
  const std::string digest(64, 'a');
  for (const std::string& bad :
       {std::string("anna operator"), "anna boss " + digest, "anna operator " + digest.substr(1),
        "anna operator " + digest + "\nanna reader " + digest, "anna none " + digest}) {
    const auto entries = ParseTokens("# first\n" + bad, "tokens");
    EXPECT_THAT(std::string(entries.status().message()), testing::ContainsRegex("tokens:[23]: ")) << bad;
  }
}

TEST_F(AuthenticatorTest, RolesIncludeThoseBeforeThemButWorkerStandsAlone) {
  EXPECT_TRUE(Require({"x", Role::kOperator}, Role::kSubmitter).ok());
  EXPECT_FALSE(Require({"x", Role::kSubmitter}, Role::kOperator).ok());
  EXPECT_FALSE(Require({"x", Role::kWorker}, Role::kReader).ok());
  EXPECT_FALSE(Require({"x", Role::kOperator}, Role::kWorker).ok());
  EXPECT_TRUE(Require({"x", Role::kWorker}, Role::kWorker).ok());
  EXPECT_FALSE(Require({"x", Role::kNone}, Role::kReader).ok());
}

TEST_F(AuthenticatorTest, ATokensFileIsPrivateAndKeepsNoToken) {
  struct stat info;
  ASSERT_EQ(stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_THAT(*ReadFile(file_), testing::Not(HasSubstr("secret")));
  EXPECT_NE(NewToken(), NewToken());
  EXPECT_GT(NewToken().size(), 52u);
}

TEST_F(AuthenticatorTest, ANameIsGivenOnce) {
  EXPECT_EQ(AddToken(file_, "anna", Role::kReader, "x").code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(AddToken(file_, "an na", Role::kReader, "x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(AddToken(file_, "", Role::kReader, "x").code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hydrant
