#include "lib/nix/daemon_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> LogLines(const std::vector<LogEvent>& events) {
  std::vector<std::string> lines;
  for (const LogEvent& event : events) {
    if (event.kind == LogEvent::Kind::kBuildLogLine) lines.push_back(event.text);
  }
  return lines;
}

// A store, a client on it, and what its builds said.
class DaemonClientTest : public testing::Test {
 protected:
  void SetUp() override {
    auto client = store_.Connect();
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    ASSERT_TRUE(client_->SetOptions({}).ok());
  }

  BuildResult Build(const std::string& expression) {
    drv_ = store_.Instantiate(expression).value();
    const auto result = client_->BuildDerivation(drv_, ResolveInputs(store_, drv_),
                                                 [this](const LogEvent& e) { events_.push_back(e); });
    EXPECT_TRUE(result.ok()) << result.status();
    return result.value_or(BuildResult());
  }
  std::string OutPath() const { return ResolveInputs(store_, drv_).outputs.at("out").path; }

  TestStore store_;
  std::unique_ptr<DaemonClient> client_;
  std::vector<LogEvent> events_;
  std::string drv_;
};

TEST_F(DaemonClientTest, HandshakeTellsTheVersion) {
  EXPECT_EQ(client_->protocol_version(), uint64_t{1} << 8 | 34);
  EXPECT_EQ(client_->daemon_version(), "2.8.0");
  EXPECT_GT(client_->daemon_pid(), 0);
}

TEST_F(DaemonClientTest, BuildStreamsItsLogAndItsOutputIsValid) {
  const BuildResult result =
      Build(ProbeExpression("echo hello; echo '@nix {\"action\":\"setPhase\",\"phase\":\"buildPhase\"}' >&2; "
                            "echo two >&2; echo $NIX_BUILD_CORES > $out"));
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(result.status, BuildStatus::kBuilt);
  EXPECT_EQ(result.times_built, 1u);
  EXPECT_GE(result.stop, result.start);
  EXPECT_THAT(LogLines(events_), ElementsAre("hello", "two"));
  EXPECT_THAT(events_, Contains(testing::Field(&LogEvent::derivation, drv_)));
  EXPECT_THAT(events_, Contains(testing::AllOf(testing::Field(&LogEvent::kind, LogEvent::Kind::kPhase),
                                               testing::Field(&LogEvent::text, "buildPhase"))));
  EXPECT_TRUE(client_->IsValidPath(OutPath()).value());
  EXPECT_EQ(
      Build(ProbeExpression("echo hello; echo '@nix {\"action\":\"setPhase\",\"phase\":\"buildPhase\"}' >&2; "
                            "echo two >&2; echo $NIX_BUILD_CORES > $out"))
          .status,
      BuildStatus::kAlreadyValid);
}

TEST_F(DaemonClientTest, SettingsReachTheBuilder) {
  ASSERT_TRUE(
      client_->SetOptions({.build_cores = 7, .overrides = {{"extra-sandbox-paths", "/busybox=/bin/busybox"}}})
          .ok());
  const BuildResult result = Build(ProbeExpression("test -x /busybox && echo $NIX_BUILD_CORES > $out"));
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(ReadFile(store_.RealPath(OutPath())).value(), "7\n");
}

TEST_F(DaemonClientTest, FailingBuilderIsAPermanentFailureAndTheConnectionGoesOn) {
  const BuildResult result = Build(ProbeExpression("echo last words; exit 3"));
  EXPECT_EQ(result.status, BuildStatus::kPermanentFailure);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.error, HasSubstr("failed with exit code 3"));
  EXPECT_THAT(LogLines(events_), ElementsAre("last words"));
  EXPECT_TRUE(Build(ProbeExpression("echo > $out")).ok());
}

TEST_F(DaemonClientTest, TooLongBuildTimesOut) {
  ASSERT_TRUE(client_->SetOptions({.timeout = absl::Milliseconds(300)}).ok());
  const BuildResult result = Build(ProbeExpression("while true; do :; done"));
  EXPECT_EQ(result.status, BuildStatus::kTimedOut);
  EXPECT_THAT(result.error, HasSubstr("timed out after"));
}

TEST_F(DaemonClientTest, SilentBuildTimesOut) {
  ASSERT_TRUE(client_->SetOptions({.max_silent = absl::Seconds(1)}).ok());
  EXPECT_EQ(Build(ProbeExpression("while true; do :; done")).status, BuildStatus::kTimedOut);
}

TEST_F(DaemonClientTest, MissingInputAndMissingFeatureAreMiscFailures) {
  EXPECT_EQ(
      Build(ProbeExpression(
                "echo > $out",
                "input = derivation { name = \"i\"; system = \"x86_64-linux\"; builder = \"/bin/sh\"; };"))
          .status,
      BuildStatus::kMiscFailure);
  EXPECT_EQ(Build(ProbeExpression("echo > $out", "requiredSystemFeatures = [ \"cuda\" ];")).status,
            BuildStatus::kMiscFailure);
}

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

TEST_F(DaemonClientTest, DerivationTextGetsTheSamePathAsFromNix) {
  const std::string drv = store_.Instantiate(ProbeExpression("echo > $out")).value();
  const TestStore other;
  auto client = other.Connect().value();
  EXPECT_EQ(client->AddTextToStore("probe.drv", ReadFile(store_.RealPath(drv)).value(), {}).value(), drv);
}

TEST_F(DaemonClientTest, IndirectRootKeepsAPathFromTheCollector) {
  const std::string kept = client_->AddTextToStore("kept", "1", {}).value(),
                    lost = client_->AddTextToStore("lost", "2", {}).value();
  const std::string link = store_.dir() / "link";
  ASSERT_EQ(symlink(kept.c_str(), link.c_str()), 0);
  ASSERT_TRUE(client_->AddIndirectRoot(link).ok());
  client_->Close();
  ASSERT_TRUE(store_.Nix({"nix-store", "--gc"})->status.ok());
  auto again = store_.Connect().value();
  EXPECT_TRUE(again->IsValidPath(kept).value());
  EXPECT_FALSE(again->IsValidPath(lost).value());
}

// Copies the closure of `path` as a worker does: references first, from one daemon into another.
void CopyClosure(DaemonClient& from, DaemonClient& to, const std::string& path) {
  const std::vector<PathInfo> closure = from.QueryClosure({path}).value();
  for (const PathInfo& info : closure) {
    StringSink nar;
    ASSERT_TRUE(from.NarFromPath(info.path, nar).ok());
    StringSource source(nar.value);
    const absl::Status added = to.AddToStoreNar(info, source);
    ASSERT_TRUE(added.ok()) << added;
  }
}

TEST_F(DaemonClientTest, ClosureCopiedToAnotherStoreIsEnoughToBuildOnIt) {
  ASSERT_TRUE(Build(ProbeExpression("echo one > $out")).ok());
  const std::string first = OutPath();
  ASSERT_TRUE(
      Build(ProbeExpression("read x < ${" + ProbeExpression("echo one > $out") + "}; echo $x $out > $out"))
          .ok());
  const std::string top_drv = drv_;
  const TestStore other;
  auto worker = other.Connect().value();
  CopyClosure(*client_, *worker, first);
  const auto result = worker->BuildDerivation(top_drv, ResolveInputs(store_, top_drv), nullptr);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, BuildStatus::kBuilt) << result->error;
  EXPECT_FALSE(FileExists(other.RealPath(top_drv))) << "no .drv is needed";
  EXPECT_EQ(worker->QueryPathInfo(OutPath())->nar_hash, client_->QueryPathInfo(OutPath())->nar_hash);
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

TEST_F(DaemonClientTest, WrongArchiveIsRefusedAndTheConnectionGoesOn) {
  const std::string a = client_->AddTextToStore("a", "1", {}).value();
  PathInfo info = client_->QueryPathInfo(a).value();
  StringSink nar;
  ASSERT_TRUE(client_->NarFromPath(a, nar).ok());
  const TestStore other;
  auto worker = other.Connect().value();
  PathInfo wrong = info;
  wrong.nar_hash.bytes[0] ^= 1;
  StringSource whole(nar.value), half(std::string_view(nar.value).substr(0, 50)), whole_again(nar.value);
  EXPECT_THAT(std::string(worker->AddToStoreNar(wrong, whole).message()), HasSubstr("hash mismatch"));
  EXPECT_FALSE(worker->AddToStoreNar(info, half).ok());
  EXPECT_FALSE(worker->IsValidPath(a).value());
  EXPECT_TRUE(worker->AddToStoreNar(info, whole_again).ok());
  EXPECT_TRUE(worker->IsValidPath(a).value());
}

TEST_F(DaemonClientTest, BrokenSourceAddsNothingAndItsErrorComesBack) {
  PathInfo info = client_->QueryPathInfo(client_->AddTextToStore("a", "1", {}).value()).value();
  const TestStore other;
  auto worker = other.Connect().value();
  struct Broken final : Source {
    absl::StatusOr<size_t> Read(std::span<char>) override { return absl::DataLossError("disk"); }
  } source;
  EXPECT_EQ(worker->AddToStoreNar(info, source).message(), "disk");
  EXPECT_FALSE(worker->IsValidPath(info.path).value());
}

TEST_F(DaemonClientTest, UnsignedArchiveIsRefusedWhenSignaturesAreChecked) {
  ASSERT_TRUE(Build(ProbeExpression("echo one > $out")).ok());
  PathInfo info = client_->QueryPathInfo(OutPath()).value();
  info.ultimate = false;
  StringSink nar;
  ASSERT_TRUE(client_->NarFromPath(info.path, nar).ok());
  const TestStore other;
  auto worker = other.Connect().value();
  StringSource source(nar.value);
  EXPECT_EQ(worker->AddToStoreNar(info, source, /*check_signatures=*/true).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(DaemonClientTest, BigFileCrossesInFrames) {
  ASSERT_TRUE(Build(ProbeExpression("i=0; while test $i -lt 20000; do echo "
                                    "012345678901234567890123456789012345678901234567890123456789; "
                                    "i=$((i+1)); done > $out"))
                  .ok());
  const TestStore other;
  auto worker = other.Connect().value();
  CopyClosure(*client_, *worker, OutPath());
  EXPECT_EQ(worker->QueryPathInfo(OutPath())->nar_size, client_->QueryPathInfo(OutPath())->nar_size);
}

TEST_F(DaemonClientTest, FullSinkStopsTheArchive) {
  struct Full final : Sink {
    absl::Status Write(std::string_view) override { return absl::ResourceExhaustedError("full"); }
  } sink;
  EXPECT_EQ(client_->NarFromPath(client_->AddTextToStore("a", "1", {}).value(), sink).message(), "full");
}

}  // namespace
}  // namespace hydrant::nix
