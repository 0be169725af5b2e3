#include "lib/rpc/toml_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hydrant/v1/config.pb.h>

namespace hydrant::rpc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using v1::DaemonConfig;
using v1::WorkerConfig;

// The example of the design, whole.
constexpr char kDaemonExample[] = R"(matrices = "/etc/hydrant/matrices.d"

[database]
url = "postgresql:///hydrant"            # or: embedded = "/var/lib/hydrant/postgres"
[grpc]
listen = "0.0.0.0:8581"                  # workers and CLI; TLS below. Only loopback may be plaintext
[http]
listen = "0.0.0.0:8580"                  # cache, page, JSON API, /healthz, /readyz
[metrics]
listen = "127.0.0.1:9581"
[tls]                                    # files are re-read when they change
cert = "/etc/hydrant/tls/cert.pem"
key = "/etc/hydrant/tls/key.pem"
client_ca = "/etc/hydrant/tls/ca.pem"
[auth]
tokens = "/etc/hydrant/tokens"           # a line each: name, role (reader submitter operator worker), SHA-256 of the token
[nix]
evaluators = 2
evaluator_memory = "1500MB"
[cache]
directory = "/var/lib/hydrant/cache"     # or: [cache.s3] endpoint, bucket, region, credentials_file
key_file = "/etc/hydrant/keys/cache.sec"
priority = 30
budget = "2TB"
[upstream]
substituters = ["https://cache.nixos.org"]
[retention]
attempts = "90d"                         # rows and logs of attempts and evaluations
)";

std::string ErrorOf(std::string_view text) {
  DaemonConfig config;
  const absl::Status status = ReadTomlMessage(text, "hydrantd.toml", &config);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(TomlMessage, TheExampleOfTheDesignReads) {
  DaemonConfig config;
  ASSERT_EQ(ReadTomlMessage(kDaemonExample, "hydrantd.toml", &config), absl::OkStatus());
  EXPECT_EQ(config.matrices(), "/etc/hydrant/matrices.d");
  EXPECT_EQ(config.nix().evaluators(), 2);
  EXPECT_EQ(config.tls().client_ca(), "/etc/hydrant/tls/ca.pem");
  EXPECT_THAT(config.upstream().substituters(), ElementsAre("https://cache.nixos.org"));
  EXPECT_FALSE(config.has_schedule());
}

TEST(TomlMessage, ArraysOfTablesAreRepeatedMessages) {
  WorkerConfig config;
  ASSERT_EQ(
      ReadTomlMessage("[[gpu]]\narchitecture = \"8.6\"\nsimulated = true\n[[gpu]]\narchitecture = \"9.0\"\n",
                      "w.toml", &config),
      absl::OkStatus());
  ASSERT_EQ(config.gpu_size(), 2);
  EXPECT_TRUE(config.gpu(0).simulated());
  EXPECT_EQ(config.gpu(1).architecture(), "9.0");
}

TEST(TomlMessage, AnEmptyTextTableOrArrayIsFine) {
  DaemonConfig config;
  EXPECT_EQ(ReadTomlMessage("", "d.toml", &config), absl::OkStatus());
  ASSERT_EQ(ReadTomlMessage("[metrics]\n[upstream]\nsubstituters = []\n", "d.toml", &config),
            absl::OkStatus());
  EXPECT_TRUE(config.has_metrics());
  EXPECT_THAT(config.upstream().substituters(), IsEmpty());
}

TEST(TomlMessage, NothingOfAnEarlierTextStays) {
  DaemonConfig config;
  config.set_matrices("old");
  ASSERT_EQ(ReadTomlMessage("", "d.toml", &config), absl::OkStatus());
  EXPECT_EQ(config.matrices(), "");
}

TEST(TomlMessage, AnUnknownKeyNamesItsLineTheNearestAndAllKnownOnes) {
  EXPECT_EQ(ErrorOf("[http]\nlisten = \"127.0.0.1:1\"\n\n[nix]\nevaluaters = 3\n"),
            "hydrantd.toml:5: [nix] has no key 'evaluaters'; the nearest is 'evaluators' "
            "(known: evaluators, evaluator_memory, store, variant_timeout, evaluation_timeout, allowed_uris, evaluator)");
}

TEST(TomlMessage, AnUnknownTableIsAnUnknownKey) {
  EXPECT_THAT(
      ErrorOf("[cache]\npriority = 3\n[cache.s3]\nbucket = \"b\"\n"),
      AllOf(StartsWith("hydrantd.toml:3: [cache] has no key 's3'"), HasSubstr("known: directory, key_file")));
  EXPECT_THAT(ErrorOf("[databse]\nurl = \"x\"\n"),
              StartsWith("hydrantd.toml:1: the top level has no key 'databse'; the nearest is 'database'"));
}

TEST(TomlMessage, AWordLikeNoKnownOneHasNoNearest) {
  EXPECT_THAT(ErrorOf("qqqqqq = 1\n"),
              StartsWith("hydrantd.toml:1: the top level has no key 'qqqqqq' (known: matrices"));
}

TEST(TomlMessage, AWrongTypeSaysWhatWasExpectedAndFound) {
  EXPECT_EQ(ErrorOf("[nix]\n\nevaluators = \"two\"\n"),
            "hydrantd.toml:3: [nix] evaluators: expected an integer, found a string");
  EXPECT_EQ(ErrorOf("matrices = 3\n"), "hydrantd.toml:1: matrices: expected a string, found an integer");
  EXPECT_EQ(ErrorOf("grpc = \"0.0.0.0:1\"\n"),
            "hydrantd.toml:1: grpc: expected a table, [grpc], found a string");
  EXPECT_EQ(ErrorOf("[upstream]\nsubstituters = \"https://x\"\n"),
            "hydrantd.toml:2: [upstream] substituters: expected an array, found a string");
  EXPECT_EQ(ErrorOf("[upstream]\nsubstituters = [\n\"https://x\",\n7]\n"),
            "hydrantd.toml:4: [upstream] substituters: expected a string, found an integer");
}

TEST(TomlMessage, ATableWhereSeveralMayStandIsRefusedWithTheRightForm) {
  WorkerConfig config;
  EXPECT_EQ(ReadTomlMessage("[gpu]\nmemory = \"1GB\"\n", "w.toml", &config).message(),
            "w.toml:1: gpu: expected an array of tables, [[gpu]], found a table");
}

TEST(TomlMessage, AnIntegerOutOfRangeIsRefused) {
  EXPECT_THAT(ErrorOf("[cache]\npriority = 3000000000\n"),
              HasSubstr("[cache] priority: 3000000000 is out of range (-2147483648 to 2147483647)"));
  EXPECT_EQ(ErrorOf("[cache]\npriority = 3.0\n"),
            "hydrantd.toml:2: [cache] priority: expected an integer, found a float");
}

TEST(TomlMessage, ATextThatIsNoTomlNamesItsLine) {
  EXPECT_THAT(ErrorOf("[nix]\nevaluators = \n"), StartsWith("hydrantd.toml:2: "));
  EXPECT_THAT(ErrorOf("[nix]\nevaluators = 1\nevaluators = 2\n"), StartsWith("hydrantd.toml:3: "));
  EXPECT_THAT(ErrorOf("matrices = \"\xff\"\n"), StartsWith("hydrantd.toml:1: "));
}

TEST(TomlMessage, WhatIsPrintedReadsBackAsTheSame) {
  DaemonConfig config, again;
  ASSERT_EQ(ReadTomlMessage(kDaemonExample, "a", &config), absl::OkStatus());
  config.set_matrices("quo\"te\\ and\nline\x01");
  ASSERT_EQ(ReadTomlMessage(PrintTomlMessage(config), "b", &again), absl::OkStatus());
  EXPECT_EQ(again.SerializeAsString(), config.SerializeAsString());
}

TEST(TomlMessage, ValuesArePrintedBeforeTablesAndUnsetOnesNot) {
  WorkerConfig config;
  config.set_server("farm:8581");
  config.mutable_offer()->add_features("cuda");
  config.mutable_offer()->set_cores(4);
  config.add_gpu()->set_simulated(true);
  config.mutable_metrics();
  EXPECT_EQ(PrintTomlMessage(config),
            "server = \"farm:8581\"\n\n[offer]\nfeatures = [\"cuda\"]\ncores = 4\n\n[[gpu]]\nsimulated = "
            "true\n\n[metrics]\n");
}

}  // namespace
}  // namespace hydrant::rpc
