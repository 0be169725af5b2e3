#include "lib/nix/daemon_client_fixture.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(DaemonClientTest, ValidPathsAndPathInfo) {
  const std::string a = client_->AddTextToStore("a", "text a", {}).value();
  const std::string b = client_->AddTextToStore("b", "see " + a, {a}).value();
  const std::string absent = "/nix/store/0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-absent";
  EXPECT_THAT(client_->QueryValidPaths({a, b, absent}).value(), ElementsAre(std::min(a, b), std::max(a, b)));
  EXPECT_FALSE(client_->IsValidPath(absent).value());
  EXPECT_EQ(client_->QueryPathInfo(absent).status().code(), absl::StatusCode::kNotFound);
  const PathInfo info = client_->QueryPathInfo(b).value();
  EXPECT_THAT(info.references, ElementsAre(a));
  EXPECT_TRUE(info.content_address.starts_with("text:sha256:"));
  StringSink nar;
  ASSERT_TRUE(client_->NarFromPath(b, nar).ok());
  EXPECT_EQ(info.nar_size, nar.value.size());
  EXPECT_EQ(info.nar_hash, HashSha256(nar.value));
  EXPECT_TRUE(client_->AddTempRoot(b).ok());
  StringSink none;
  EXPECT_EQ(client_->NarFromPath(absent, none).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client_->QueryPathInfo("/etc/passwd").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(client_->IsValidPath(a).value()) << "an error must not break the connection";
}

TEST_F(DaemonClientTest, ClosureIsInOrderOfReferences) {
  const std::string a = client_->AddTextToStore("a", "1", {}).value();
  const std::string b = client_->AddTextToStore("b", a, {a}).value();
  const std::string c = client_->AddTextToStore("c", a + b, {a, b}).value();
  const std::vector<PathInfo> closure = client_->QueryClosure({c, a}).value();
  std::vector<std::string> order;
  for (const PathInfo& info : closure) order.push_back(info.path);
  EXPECT_THAT(order, ElementsAre(a, b, c));
  EXPECT_EQ(client_->QueryClosure({a, "/nix/store/0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-absent"}).status().code(),
            absl::StatusCode::kNotFound);
}

// A store, and a binary cache in a folder that has one path which the store lacks.
class SubstituterTest : public DaemonClientTest {
 protected:
  void SetUp() override {
    DaemonClientTest::SetUp();
    ASSERT_TRUE(Build(ProbeExpression("echo one > $out")).ok());
    out_ = OutPath();
    const auto pushed = store_.Nix({"nix", "copy", "--to", cache(), out_});
    ASSERT_TRUE(pushed.ok() && pushed->status.ok()) << pushed->err;
    // Only caches that say so are asked about many paths.
    ASSERT_TRUE(WriteFileAtomically(store_.dir() / "binary-cache/nix-cache-info",
                                    "StoreDir: /nix/store\nWantMassQuery: 1\n")
                    .ok());
    auto options = reader_.client_options();
    options.nix_config += "substituters = " + cache() + "\nrequire-sigs = false\n";
    client_ = DaemonClient::Connect(options).value();
    ASSERT_TRUE(client_->SetOptions({.use_substitutes = true}).ok());
    events_.clear();
  }
  std::string cache() const { return "file://" + (store_.dir() / "binary-cache"); }

  const TestStore reader_;
  std::string out_;
};

TEST_F(SubstituterTest, WhatItHasIsNamedWithItsSizes) {
  EXPECT_THAT(client_->QuerySubstitutablePaths({out_, absent_}).value(), ElementsAre(out_));
  const auto infos = client_->QuerySubstitutablePathInfos({out_, absent_}).value();
  EXPECT_THAT(infos, ElementsAre(testing::Key(out_)));
  EXPECT_GT(infos.at(out_).nar_bytes, 0u);
  EXPECT_GT(infos.at(out_).download_bytes, 0u);
  const MissingPaths missing =
      client_->QueryMissing({DerivedPath::Opaque(out_), DerivedPath::Opaque(absent_)}).value();
  EXPECT_THAT(missing.to_substitute, ElementsAre(out_));
  EXPECT_THAT(missing.unknown, ElementsAre(absent_));
  EXPECT_EQ(missing.nar_bytes, infos.at(out_).nar_bytes);
  EXPECT_EQ(missing.download_bytes, infos.at(out_).download_bytes);
}

TEST_F(SubstituterTest, EnsurePathSaysFromWhichStoreItComes) {
  ASSERT_TRUE(client_->EnsurePath(out_, Events()).ok());
  EXPECT_TRUE(client_->IsValidPath(out_).value());
  EXPECT_THAT(events_,
              testing::Contains(testing::AllOf(
                  testing::Field(&LogEvent::kind, LogEvent::Kind::kSubstituteStart),
                  testing::Field(&LogEvent::path, out_), testing::Field(&LogEvent::origin, cache()))));
  EXPECT_FALSE(client_->EnsurePath(absent_).ok());
  EXPECT_TRUE(client_->EnsurePath(out_).ok());
}

TEST_F(SubstituterTest, ValidPathsAreFetchedWhenAsked) {
  EXPECT_THAT(client_->QueryValidPaths({out_, absent_}).value(), IsEmpty());
  EXPECT_THAT(client_->QueryValidPaths({out_, absent_}, /*substitute=*/true).value(), ElementsAre(out_));
}

TEST_F(DaemonClientTest, ReferrersDeriversOutputsAndHashParts) {
  const std::string a = AddText("a", "1"), b = AddText("b", a, {a});
  EXPECT_THAT(client_->QueryReferrers(a).value(), ElementsAre(b));
  EXPECT_EQ(client_->QueryPathFromHashPart(a.substr(11, 32)).value(), a);
  EXPECT_EQ(client_->QueryPathFromHashPart(absent_.substr(11, 32)).value(), "");
  EXPECT_EQ(client_->QueryPathFromHashPart("short").status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(Build(ProbeExpression("echo one > $out")).ok());
  EXPECT_THAT(client_->QueryValidDerivers(OutPath()).value(), ElementsAre(drv_));
  EXPECT_THAT(client_->QueryDerivationOutputMap(drv_).value(), ElementsAre(testing::Pair("out", OutPath())));
  EXPECT_THAT(client_->QueryAllValidPaths().value(), UnorderedElementsAre(a, b, drv_, OutPath()));
  EXPECT_EQ(client_->QueryReferrers("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(DaemonClientTest, MissingTellsWhatWouldBeBuilt) {
  const std::string drv =
      store_.Instantiate(ProbeExpression("read x < ${" + ProbeExpression("echo 1 > $out") + "}")).value();
  const MissingPaths missing = client_->QueryMissing({DerivedPath::AllOutputs(drv)}).value();
  EXPECT_EQ(missing.to_build.size(), 2u);
  EXPECT_THAT(missing.to_build, testing::Contains(drv));
  EXPECT_EQ(client_->QueryMissing({DerivedPath::AllOutputs(absent_)}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hydrant::nix
