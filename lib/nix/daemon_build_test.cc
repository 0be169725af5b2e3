#include "lib/nix/daemon_client_fixture.h"

namespace hydrant::nix {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(DaemonClientTest, BuildStreamsItsLogAndItsOutputIsValid) {
  const BuildResult result =
      Build(ProbeExpression("echo hello; echo '@nix {\"action\":\"setPhase\",\"phase\":\"buildPhase\"}' >&2; "
                            "echo two >&2; echo $NIX_BUILD_CORES > $out"));
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(result.status, BuildStatus::kBuilt);
  EXPECT_EQ(result.times_built, 1u);
  EXPECT_GE(result.stop, result.start);
  EXPECT_THAT(LogLines(), ElementsAre("hello", "two"));
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
  EXPECT_THAT(LogLines(), ElementsAre("last words"));
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

TEST_F(DaemonClientTest, EachOfManyGetsItsResult) {
  const std::string good = store_.Instantiate(ProbeExpression("echo one > $out")).value();
  const std::string bad =
      store_
          .Instantiate(
              "derivation { name = \"bad\"; system = \"x86_64-linux\"; builder = \"/bin/sh\"; args = [ "
              "\"-c\" \"exit 7\" ]; }")
          .value();
  ASSERT_TRUE(client_->SetOptions({.max_jobs = 2, .keep_going = true}).ok());
  const auto results = client_->BuildPathsWithResults(
      {DerivedPath::AllOutputs(good), DerivedPath::Outputs(bad, {"out"})}, Events());
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2u);
  std::map<std::string, BuildResult> by_derivation;
  for (const KeyedBuildResult& keyed : *results) by_derivation[keyed.path.path] = keyed.result;
  const BuildResult& built = by_derivation.at(good);
  EXPECT_EQ(built.status, BuildStatus::kBuilt) << built.error;
  EXPECT_THAT(built.built_outputs,
              ElementsAre(testing::Pair("out", ResolveInputs(store_, good).outputs.at("out").path)));
  EXPECT_EQ(by_derivation.at(bad).status, BuildStatus::kPermanentFailure);
  EXPECT_THAT(by_derivation.at(bad).plain_error(), HasSubstr("exit code 7"));
  EXPECT_EQ(by_derivation.at(bad).plain_error().find('\x1b'), std::string::npos);
}

TEST_F(DaemonClientTest, FailedBuildPathsIsAnErrorAndTheConnectionGoesOn) {
  const std::string bad = store_.Instantiate(ProbeExpression("exit 7")).value();
  EXPECT_EQ(client_->BuildPaths({DerivedPath::AllOutputs(bad)}, nullptr).code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(client_->IsValidPath(absent_).value());
}

TEST_F(DaemonClientTest, CheckModeFindsABuildThatIsNotDeterministic) {
  const std::string script = "read x < /proc/sys/kernel/random/uuid; echo $x > $out";
  ASSERT_TRUE(Build(ProbeExpression(script)).ok());
  const auto again = client_->BuildDerivation(drv_, ResolveInputs(store_, drv_), nullptr, BuildMode::kCheck);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->status, BuildStatus::kNotDeterministic);
}

TEST_F(DaemonClientTest, OutputsOfAContentAddressedDerivationAreNamed) {
  auto options = store_.client_options();
  options.nix_config += "experimental-features = nix-command ca-derivations\n";
  client_.reset();  // a store that learns of them has one user for a while
  client_ = DaemonClient::Connect(options).value();
  ASSERT_TRUE(client_->SetOptions({}).ok());
  const auto made =
      store_.Nix({"nix-instantiate", "--option", "experimental-features", "ca-derivations", "--expr",
                  ProbeExpression("echo one > $out",
                                  "__contentAddressed = true; outputHashMode = \"recursive\"; "
                                  "outputHashAlgo = \"sha256\";")});
  ASSERT_TRUE(made->status.ok()) << made->err;
  const std::string drv = made->out.substr(0, made->out.find('\n'));
  EXPECT_THAT(client_->QueryDerivationOutputMap(drv).value(), ElementsAre(testing::Pair("out", "")));
  const auto results = client_->BuildPathsWithResults({DerivedPath::AllOutputs(drv)}, nullptr);
  ASSERT_TRUE(results.ok() && results->at(0).result.ok()) << results.status();
  const std::string out = results->at(0).result.built_outputs.at("out");
  EXPECT_TRUE(client_->IsValidPath(out).value());
  EXPECT_THAT(client_->QueryDerivationOutputMap(drv).value(), ElementsAre(testing::Pair("out", out)));
  if (client_->protocol().has(kFeatureRealisationWithPath)) {
    const auto realisation = client_->QueryRealisation({drv, "out"}).value();
    ASSERT_TRUE(realisation.has_value());
    EXPECT_EQ(realisation->out_path, out);
  }
}

TEST_F(DaemonClientTest, RealisationIsRegisteredAndFound) {
  auto options = store_.client_options();
  options.nix_config += "experimental-features = nix-command ca-derivations\n";
  const std::string out = AddText("out", "1");
  client_.reset();
  client_ = DaemonClient::Connect(options).value();
  const DerivationOutputId id{"sha256:" + std::string(64, 'a'), "out"};
  if (client_->protocol().has(kFeatureRealisationWithPath)) {
    EXPECT_EQ(client_->QueryRealisation(id).status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  EXPECT_EQ(client_->QueryRealisation(id).value(), std::nullopt);
  const DaemonRealisation realisation{id, out, {}};
  const absl::Status registered = client_->RegisterRealisation(realisation);
  ASSERT_TRUE(registered.ok()) << registered;
  EXPECT_EQ(client_->QueryRealisation(id).value(), realisation);
}

}  // namespace
}  // namespace hydrant::nix
