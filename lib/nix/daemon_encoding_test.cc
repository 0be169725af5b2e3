// Each value in each version: written and read again, and as bytes that were made by hand.
#include "lib/nix/daemon_encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "lib/nix/daemon_bytes_fixture.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kPath = "/nix/store/0c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-a";
const std::string kOther = "/nix/store/1c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-b";
const std::string kDrv = "/nix/store/2c0hk3nbmy3b1d6z2mx4p2a4xaq8cl5d-c.drv";
const std::string kHash = "sha256:" + std::string(64, 'a');

DaemonProtocol Version(uint64_t minor) { return {.minor = minor, .features = {}}; }
DaemonProtocol Newest() { return {.minor = 38, .features = {OurFeatures().begin(), OurFeatures().end()}}; }

std::vector<DaemonProtocol> EveryVersion() {
  std::vector<DaemonProtocol> all;
  for (uint64_t minor = kOldestProtocolMinor; minor <= kProtocolMinor; ++minor) all.push_back(Version(minor));
  all.push_back(Newest());
  return all;
}

PathInfo SomePathInfo() {
  return {.path = kPath,
          .deriver = kDrv,
          .nar_hash = HashSha256("x"),
          .nar_size = 120,
          .references = {kPath, kOther},
          .signatures = {"a:b", "c:d"},
          .content_address = "text:sha256:x",
          .ultimate = true,
          .registered = absl::FromUnixSeconds(1700000000)};
}

BuildResult SomeBuildResult() {
  return {.status = BuildStatus::kTimedOut,
          .error = "\x1b[31mtimed out\x1b[0m",
          .times_built = 2,
          .non_deterministic = true,
          .start = absl::FromUnixSeconds(5),
          .stop = absl::FromUnixSeconds(9),
          .cpu_user = absl::Microseconds(1500),
          .built_outputs = {{"dev", kOther}, {"out", kPath}}};
}

// What `protocol` can carry of it.
BuildResult Carried(BuildResult result, const DaemonProtocol& protocol) {
  if (protocol.minor < 37) result.cpu_user.reset();
  if (protocol.minor < 28) result.built_outputs.clear();
  if (protocol.minor >= 29) return result;
  result.times_built = 0;
  result.non_deterministic = false;
  result.start = result.stop = absl::InfinitePast();
  return result;
}

// Every beginning of `bytes` is refused as too short, and no change of a word does more harm than an error.
void ExpectRobust(const std::string& bytes, const std::function<absl::Status(WireReader&)>& read) {
  for (size_t length = 0; length < bytes.size(); length += 8) {
    WireBytes in(bytes.substr(0, length));
    EXPECT_EQ(read(in).code(), absl::StatusCode::kUnavailable) << length;
  }
  for (size_t at = 0; at < bytes.size(); at += 8) {
    for (const uint64_t word : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 30, ~uint64_t{0}}) {
      WireBytes in(bytes.substr(0, at) + Number(word) + bytes.substr(at + 8));
      (void)read(in);
    }
  }
}

TEST(DaemonEncodingTest, PathInfoComesBackAndIsTheProtocolsBytes) {
  const PathInfo info = SomePathInfo();
  WireWriter out;
  PutPathInfo(out, info);
  EXPECT_EQ(out.bytes(), String(kPath) + String(kDrv) + String(info.nar_hash.ToBase16()) + Number(2) +
                             String(kPath) + String(kOther) + Number(1700000000) + Number(120) + Number(1) +
                             Number(2) + String("a:b") + String("c:d") + String("text:sha256:x"));
  WireBytes in(out.bytes());
  EXPECT_EQ(ReadPathInfo(in).value(), info);
  ExpectRobust(out.bytes(), [](WireReader& bad) { return ReadPathInfo(bad).status(); });
}

TEST(DaemonEncodingTest, PathInfoWithTextThatIsNoPathIsDataLoss) {
  WireWriter out;
  PutPathInfo(out, {.path = "/etc/passwd"});
  WireBytes in(out.bytes());
  const absl::Status status = ReadPathInfo(in).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/etc/passwd"));
}

TEST(DaemonEncodingTest, BasicDerivationComesBack) {
  const BasicDerivation derivation{
      .outputs = {{"out", {kPath, "", ""}}, {"src", {kOther, "r:sha256", "abc"}}},
      .input_sources = {kOther},
      .system = "x86_64-linux",
      .builder = "/bin/sh",
      .arguments = {"-c", "echo", "-c"},
      .environment = {{"name", "a"}, {"out", kPath}}};
  WireWriter out;
  PutBasicDerivation(out, derivation);
  WireBytes in(out.bytes());
  EXPECT_EQ(ReadBasicDerivation(in).value(), derivation);
  ExpectRobust(out.bytes(), [](WireReader& bad) { return ReadBasicDerivation(bad).status(); });
}

TEST(DaemonEncodingTest, BuildResultComesBackFromEachVersion) {
  for (const DaemonProtocol& protocol : EveryVersion()) {
    WireWriter out;
    PutBuildResult(out, protocol, SomeBuildResult());
    WireBytes in(out.bytes());
    EXPECT_EQ(ReadBuildResult(in, protocol).value(), Carried(SomeBuildResult(), protocol)) << protocol.minor;
    EXPECT_FALSE(in.has_unread()) << protocol.minor;
    ExpectRobust(out.bytes(), [&](WireReader& bad) { return ReadBuildResult(bad, protocol).status(); });
  }
}

TEST(DaemonEncodingTest, BuildResultOfNix28) {
  WireBytes in(Number(0) + String("") + Number(1) + Number(0) + Number(5) + Number(9) + Number(1) +
               String(kHash + "!out") +
               String("{\"dependentRealisations\":{},\"id\":\"" + kHash + "!out\",\"outPath\":\"" +
                      kPath.substr(11) + "\",\"signatures\":[]}"));
  const BuildResult result = ReadBuildResult(in, Version(34)).value();
  EXPECT_EQ(result.status, BuildStatus::kBuilt);
  EXPECT_EQ(result.start, absl::FromUnixSeconds(5));
  EXPECT_THAT(result.built_outputs, ElementsAre(testing::Pair("out", kPath)));
}

TEST(DaemonEncodingTest, BuildResultOfTheNewestNix) {
  WireBytes in(Number(8) + String("late") + Number(1) + Number(0) + Number(5) + Number(9) + Number(1) +
               Number(2500000) + Number(0) + Number(1) + String("out") + String(kPath) + Number(1) +
               String("k:s"));
  const BuildResult result = ReadBuildResult(in, Newest()).value();
  EXPECT_EQ(result.cpu_user, absl::Seconds(2.5));
  EXPECT_EQ(result.cpu_system, std::nullopt);
  EXPECT_THAT(result.built_outputs, ElementsAre(testing::Pair("out", kPath)));
  EXPECT_FALSE(in.has_unread());
}

TEST(DaemonEncodingTest, UnknownBuildStatusAndWrongRealisationAreDataLoss) {
  WireBytes status(Number(16) + String(""));
  EXPECT_EQ(ReadBuildResult(status, Version(34)).status().code(), absl::StatusCode::kDataLoss);
  for (const char* json :
       {"", "[]", "{}", "{\"id\":\"x!out\",\"outPath\":7}", "{\"id\":\"x!out\",\"outPath\":\"../x\"}"}) {
    WireBytes in(Number(0) + String("") + Number(1) + Number(0) + Number(5) + Number(9) + Number(1) +
                 String("x!out") + String(json));
    EXPECT_EQ(ReadBuildResult(in, Version(34)).status().code(), absl::StatusCode::kDataLoss) << json;
  }
}

TEST(DaemonEncodingTest, KeyedBuildResultsComeBack) {
  const std::vector<KeyedBuildResult> results = {{DerivedPath::AllOutputs(kDrv), {}},
                                                 {DerivedPath::Opaque(kPath), SomeBuildResult()}};
  WireWriter out;
  PutKeyedBuildResults(out, Newest(), results);
  WireBytes in(out.bytes());
  EXPECT_EQ(ReadKeyedBuildResults(in, Newest()).value(), results);
  ExpectRobust(out.bytes(), [](WireReader& bad) { return ReadKeyedBuildResults(bad, Newest()).status(); });
}

TEST(DaemonEncodingTest, DerivedPathsAreSpelledAsTheVersionSpells) {
  const std::vector<DerivedPath> paths = {
      DerivedPath::AllOutputs(kDrv), DerivedPath::Outputs(kDrv, {"out", "dev"}), DerivedPath::Opaque(kPath)};
  WireWriter now, then;
  ASSERT_TRUE(PutDerivedPaths(now, Version(30), paths).ok());
  ASSERT_TRUE(PutDerivedPaths(then, Version(29), paths).ok());
  EXPECT_EQ(now.bytes(), Number(3) + String(kDrv + "!*") + String(kDrv + "!dev,out") + String(kPath));
  EXPECT_EQ(then.bytes(), Number(3) + String(kDrv) + String(kDrv + "!dev,out") + String(kPath));
  for (const DaemonProtocol& protocol : {Version(30), Version(29)}) {
    WireBytes in(protocol.minor == 30 ? now.bytes() : then.bytes());
    EXPECT_EQ(ReadDerivedPaths(in, protocol).value(), paths);
  }
  EXPECT_EQ(PutDerivedPaths(then, Version(29), {DerivedPath::Opaque(kDrv)}).code(),
            absl::StatusCode::kUnimplemented);
}

TEST(DaemonEncodingTest, AnswersAboutTheStoreComeBack) {
  const MissingPaths missing{{kDrv}, {kPath}, {kOther}, 7, 9};
  const std::map<std::string, SubstitutablePath> substitutable = {{kPath, {kDrv, {kOther}, 3, 4}}};
  const std::vector<GarbageRoot> roots = {{"/home/x/result", kPath}, {"{lsof}", kOther}};
  const GarbageResult garbage{{kPath}, 4711};
  WireWriter out;
  PutMissingPaths(out, missing);
  PutSubstitutablePaths(out, substitutable);
  PutGarbageRoots(out, roots);
  PutGarbageResult(out, garbage);
  WireBytes in(out.bytes());
  EXPECT_EQ(ReadMissingPaths(in).value(), missing);
  EXPECT_EQ(ReadSubstitutablePaths(in).value(), substitutable);
  EXPECT_EQ(ReadGarbageRoots(in).value(), roots);
  EXPECT_EQ(ReadGarbageResult(in).value(), garbage);
  EXPECT_FALSE(in.has_unread());
  ExpectRobust(out.bytes(), [](WireReader& bad) -> absl::Status {
    absl::Status status = ReadMissingPaths(bad).status();
    if (status.ok()) status = ReadSubstitutablePaths(bad).status();
    if (status.ok()) status = ReadGarbageRoots(bad).status();
    if (status.ok()) status = ReadGarbageResult(bad).status();
    return status;
  });
}

TEST(DaemonEncodingTest, GarbageRequestsComeBackWithAndWithoutTheirFeature) {
  using Action = GarbageRequest::Action;
  const GarbageRequest whole{.action = Action::kDeleteDead, .paths = {}, .max_freed_bytes = 5};
  const GarbageRequest specific{.action = Action::kDeleteSpecific, .paths = {kPath}};
  for (const DaemonProtocol& protocol : {Version(34), Newest()}) {
    for (const GarbageRequest& request : {whole, specific}) {
      WireWriter out;
      PutGarbageRequest(out, protocol, request);
      WireBytes in(out.bytes());
      EXPECT_EQ(ReadGarbageRequest(in, protocol).value(), request);
      EXPECT_FALSE(in.has_unread());
    }
  }
  WireWriter out;
  PutGarbageRequest(out, Version(34), whole);
  EXPECT_EQ(out.bytes(), Number(2) + Number(0) + Number(0) + Number(5) + Number(0) + Number(0) + Number(0));
}

TEST(DaemonEncodingTest, RealisationsComeBackFromEachVersion) {
  for (const DaemonProtocol& protocol : EveryVersion()) {
    const bool by_path = protocol.has(kFeatureRealisationWithPath);
    DaemonRealisation realisation{{by_path ? kDrv : kHash, "out"}, kPath, {"k:s"}};
    if (!by_path && protocol.minor < 31) realisation.signatures.clear();
    WireWriter out;
    PutFoundRealisation(out, protocol, realisation);
    PutFoundRealisation(out, protocol, std::nullopt);
    WireBytes in(out.bytes());
    EXPECT_EQ(ReadFoundRealisation(in, protocol, realisation.id).value(), realisation) << protocol.minor;
    EXPECT_EQ(ReadFoundRealisation(in, protocol, realisation.id).value(), std::nullopt);
    EXPECT_FALSE(in.has_unread());
  }
}

TEST(DaemonEncodingTest, RealisationsAreAskedForAndToldInTheWordsOfTheVersion) {
  const DaemonRealisation by_hash{{kHash, "out"}, kPath, {}}, by_path{{kDrv, "out"}, kPath, {}};
  WireWriter old, json, newest;
  PutRealisation(old, Version(30), by_hash);
  EXPECT_EQ(old.bytes(), String(kHash + "!out") + String(kPath.substr(11)));
  PutRealisation(json, Version(31), by_hash);
  WireBytes in(json.bytes());
  EXPECT_THAT(in.ReadString().value(), HasSubstr("\"outPath\":\"" + kPath.substr(11) + "\""));
  PutRealisation(newest, Newest(), by_path);
  EXPECT_EQ(newest.bytes(), String(kDrv) + String("out") + String(kPath) + Number(0));
}

TEST(DaemonEncodingTest, TrustHasThreeValues) {
  WireBytes in(Number(0) + Number(1) + Number(2) + Number(3));
  EXPECT_EQ(ReadTrust(in).value(), std::nullopt);
  EXPECT_EQ(ReadTrust(in).value(), true);
  EXPECT_EQ(ReadTrust(in).value(), false);
  EXPECT_EQ(ReadTrust(in).status().code(), absl::StatusCode::kDataLoss);
}

TEST(DaemonEncodingTest, SettingsAreInNixsOrder) {
  WireWriter out;
  PutSettings(out, {.verbosity = 3,
                    .max_silent = absl::Milliseconds(1500),
                    .timeout = absl::Seconds(9),
                    .max_jobs = 4,
                    .build_cores = 8,
                    .use_substitutes = true,
                    .keep_going = true,
                    .overrides = {{"sandbox", "true"}}});
  EXPECT_EQ(out.bytes(), Number(0) + Number(1) + Number(0) + Number(3) + Number(4) + Number(2) + Number(1) +
                             Number(7) + Number(0) + Number(0) + Number(8) + Number(1) + Number(2) +
                             String("sandbox") + String("true") + String("timeout") + String("9"));
}

}  // namespace
}  // namespace hydrant::nix
