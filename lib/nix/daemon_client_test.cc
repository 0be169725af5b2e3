// What belongs to no operation: versions, settings, many questions at once, a connection that ends.
#include "lib/nix/daemon_client_fixture.h"

namespace hydrant::nix {
namespace {

using testing::EndsWith;

TEST_F(DaemonClientTest, HandshakeTellsTheVersion) {
  const std::string said = store_.Nix({"nix-daemon", "--version"})->out;
  EXPECT_THAT(said, EndsWith(" " + client_->daemon_version() + "\n"));
  EXPECT_GE(client_->protocol_version(), uint64_t{1} << 8 | 34);
  if (client_->protocol().minor >= 35) {
    EXPECT_EQ(client_->trusted(), true);
  }
  EXPECT_GT(client_->daemon_pid(), 0);
}

// Each kind of version that a daemon of today can be asked to speak gives the same answers.
class OldProtocolTest : public DaemonClientTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(OldProtocolTest, SameAnswersAtEachVersion) {
  auto options = store_.client_options();
  options.newest_minor = GetParam();
  auto client = DaemonClient::Connect(options).value();
  EXPECT_EQ(client->protocol().minor, GetParam());
  ASSERT_TRUE(client->SetOptions({}).ok());
  const std::string a = client->AddTextToStore("a", "text a", {}).value();
  const std::string b = client->AddTextToStore("b", "see " + a, {a}).value();
  EXPECT_EQ(client->QueryPathInfo(b).value(), client_->QueryPathInfo(b).value());
  EXPECT_EQ(client->QueryPathInfo(absent_).status().code(), absl::StatusCode::kNotFound);
  const TestStore other;
  options = other.client_options();
  options.newest_minor = GetParam();
  auto copy = DaemonClient::Connect(options).value();
  const std::string bytes = NarOf(a);
  StringSource source(bytes);
  ASSERT_TRUE(copy->AddToStoreNar(client_->QueryPathInfo(a).value(), source).ok());
  EXPECT_TRUE(copy->VerifyPath(a).ok());
  drv_ = store_.Instantiate(ProbeExpression("echo hello; echo one > $out")).value();
  const auto result = client->BuildDerivation(drv_, ResolveInputs(store_, drv_), Events());
  EXPECT_TRUE(result.ok() && result->ok()) << result.status();
  EXPECT_THAT(LogLines(), testing::ElementsAre("hello"));
  EXPECT_EQ(client->QueryMissing({DerivedPath::AllOutputs(drv_)}).value(), MissingPaths());
  EXPECT_TRUE(client->BuildPaths({DerivedPath::Outputs(drv_, {"out"})}, nullptr).ok());
}

INSTANTIATE_TEST_SUITE_P(Versions, OldProtocolTest, testing::Values(21, 22, 25, 27, 29, 31, 33));

TEST_F(DaemonClientTest, WhatTheProtocolLacksIsNamedAndTheConnectionGoesOn) {
  auto options = store_.client_options();
  options.newest_minor = 31;
  auto client = DaemonClient::Connect(options).value();
  const absl::Status status = client->AddMultipleToStore({});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(), "AddMultipleToStore needs worker protocol 1.32, the Nix daemon speaks 1.31");
  EXPECT_EQ(client->AddPermRoot(absent_, "/tmp/x").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(client->BuildPathsWithResults({}, nullptr).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_FALSE(client->IsValidPath(absent_).value());
}

TEST_F(DaemonClientTest, ManyQuestionsAtOnceGetEachItsAnswer) {
  std::set<std::string> paths;
  const std::string kept = AddText("kept", "1");
  for (int i = 0; i < 2000; ++i) {
    std::string path = absent_ + std::to_string(i);
    paths.insert(path);
  }
  paths.insert(kept);
  const auto infos = client_->QueryPathInfos(paths);
  ASSERT_TRUE(infos.ok()) << infos.status();
  EXPECT_THAT(*infos, testing::ElementsAre(testing::Key(kept)));
  EXPECT_TRUE(client_->AddTempRoots(paths).ok());
}

}  // namespace
}  // namespace hydrant::nix
