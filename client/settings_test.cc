#include "client/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"

namespace hydrant::client {
namespace {

using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) {
    ASSERT_TRUE(MakeDirectories(dir_ / "hydrant").ok());
    ASSERT_TRUE(WriteFileAtomically(dir_ / "hydrant/config.toml", text).ok());
  }
  std::string ErrorOf(const std::string& text) {
    Write(text);
    return std::string(ReadSettings({}, environment_).status().message());
  }
  TestDir dir_;
  Environment environment_ = {{"XDG_CONFIG_HOME", dir_.path()}};
};

TEST_F(SettingsTest, WithoutAnythingItIsTheLocalFarm) {
  const auto settings = ReadSettings({}, {});
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->server, "127.0.0.1:8581");
  EXPECT_EQ(settings->token, "");
}

TEST_F(SettingsTest, ArgumentsWinOverTheEnvironmentAndThatOverTheFile) {
  Write("server = \"file:1\"\n[tls]\nca = \"/ca.pem\"\n");
  EXPECT_EQ(ReadSettings({}, environment_)->server, "file:1");
  EXPECT_EQ(ReadSettings({}, environment_)->tls_ca, "/ca.pem");
  environment_["HYDRANT_SERVER"] = "env:1";
  EXPECT_EQ(ReadSettings({}, environment_)->server, "env:1");
  EXPECT_EQ(ReadSettings({.server = "arg:1"}, environment_)->server, "arg:1");
}

TEST_F(SettingsTest, TheTokenOfTheFileIsTheLast) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / "t1", "one\n").ok());
  ASSERT_TRUE(WriteFileAtomically(dir_ / "t2", " two ").ok());
  Write("token_file = \"" + dir_ / "t1" + "\"\n");
  EXPECT_EQ(ReadSettings({}, environment_)->token, "one");
  environment_["HYDRANT_TOKEN"] = "env";
  EXPECT_EQ(ReadSettings({}, environment_)->token, "env");
  EXPECT_EQ(ReadSettings({.token_file = dir_ / "t2"}, environment_)->token, "two");
}

TEST_F(SettingsTest, HomeIsTheSecondPlace) {
  EXPECT_EQ(SettingsPath({{"HOME", "/h"}}), "/h/.config/hydrant/config.toml");
  EXPECT_EQ(SettingsPath({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}}), "/x/hydrant/config.toml");
  EXPECT_EQ(SettingsPath({}), "");
}

TEST_F(SettingsTest, ErrorsNameLineAndNearestKey) {
  EXPECT_THAT(ErrorOf("\nsevrer = \"x\"\n"),
              HasSubstr("config.toml:2: the top level has no key 'sevrer'; the nearest is 'server'"));
  EXPECT_THAT(ErrorOf("[tls]\ncerts = \"x\"\n"),
              HasSubstr("config.toml:2: [tls] has no key 'certs'; the nearest is 'cert'"));
  EXPECT_THAT(ErrorOf("server = 3\n"), HasSubstr("config.toml:1: server: expected a string"));
  EXPECT_THAT(ErrorOf("tls = 3\n"), HasSubstr("config.toml:1: tls: expected a table"));
  EXPECT_THAT(ErrorOf("server = \n"), HasSubstr("config.toml:1: "));
}

TEST_F(SettingsTest, ATokenFileMustHoldOneToken) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / "t", "one two\n").ok());
  EXPECT_THAT(std::string(ReadSettings({.token_file = dir_ / "t"}, {}).status().message()),
              HasSubstr("expected one token"));
  EXPECT_EQ(ReadSettings({.token_file = dir_ / "absent"}, {}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace hydrant::client
