#include "lib/rpc/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hydrant/v1/worker_service.grpc.pb.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"

namespace hydrant::rpc {
namespace {

using ::testing::HasSubstr;

// Answers every call and keeps what it saw of the caller.
class Recorder final : public v1::WorkerService::Service {
 public:
  grpc::Status AppendLog(grpc::ServerContext* context, const v1::AppendLogRequest* request,
                         v1::AppendLogResponse* response) override {
    token = BearerToken(*context);
    loopback = FromLoopback(*context);
    response->set_next_offset(static_cast<int64_t>(request->data().size()));
    return grpc::Status::OK;
  }
  std::optional<std::string> token;
  bool loopback = false;
};

struct Served {
  explicit Served(const TlsFiles& tls = {}, const std::string& address = "127.0.0.1:0") {
    grpc::ServerBuilder builder;
    listening = AddListener(builder, address, tls, &port);
    if (!listening.ok()) return;
    builder.RegisterService(&service);
    server = builder.BuildAndStart();
  }
  ~Served() {
    if (server) server->Shutdown();
  }
  Recorder service;
  int port = 0;
  absl::Status listening;
  std::unique_ptr<grpc::Server> server;
};

grpc::Status Append(const std::string& address, const TlsFiles& tls, const std::string& token,
                    size_t bytes = 1) {
  auto channel = MakeChannel({address, tls});
  if (!channel.ok()) return {grpc::StatusCode::INTERNAL, std::string(channel.status().message())};
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  Authorise(context, token);
  v1::AppendLogRequest request;
  request.set_data(std::string(bytes, 'x'));
  v1::AppendLogResponse response;
  return v1::WorkerService::NewStub(*channel)->AppendLog(&context, request, &response);
}

std::string At(int port) { return absl::StrCat("127.0.0.1:", port); }

TEST(Channel, ATokenArrivesAndTheCallerIsOnLoopback) {
  Served served;
  ASSERT_TRUE(Append(At(served.port), {}, "secret").ok());
  EXPECT_EQ(served.service.token, "secret");
  EXPECT_TRUE(served.service.loopback);
}

TEST(Channel, IPv6LoopbackIsLoopback) {
  Served served({}, "[::1]:0");
  if (served.port == 0) GTEST_SKIP() << "this machine has no IPv6";
  ASSERT_TRUE(Append(absl::StrCat("[::1]:", served.port), {}, "").ok());
  EXPECT_TRUE(served.service.loopback);
}

TEST(Channel, WithoutATokenThereIsNone) {
  Served served;
  ASSERT_TRUE(Append(At(served.port), {}, "").ok());
  EXPECT_EQ(served.service.token, std::nullopt);
}

TEST(Channel, MessagesUpToSixteenMebibytesPass) {
  Served served;
  EXPECT_TRUE(Append(At(served.port), {}, "", 15 << 20).ok());
  EXPECT_EQ(Append(At(served.port), {}, "", 17 << 20).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(Channel, ATakenPortIsNotShared) {
  Served first;
  Served second({}, At(first.port));
  EXPECT_TRUE(second.server == nullptr || second.port == 0);
}

TEST(Channel, PlaintextDoesNotLeaveLoopback) {
  EXPECT_THAT(std::string(MakeChannel({"farm.example.org:8581", {}}).status().message()),
              HasSubstr("'farm.example.org:8581' is not a loopback address: it needs TLS"));
  EXPECT_EQ(Served({}, "0.0.0.0:0").listening.code(), absl::StatusCode::kInvalidArgument);
}

TEST(Channel, WhatIsNoAddressIsRefused) {
  for (const char* address :
       {"", "localhost", ":80", "localhost:", "localhost:http", "localhost:70000", "::1:80"}) {
    EXPECT_THAT(std::string(MakeChannel({address, {}}).status().message()), HasSubstr("expected HOST:PORT"))
        << address;
  }
}

TEST(Channel, LoopbackAddresses) {
  for (const char* yes : {"127.0.0.1:80", "127.9.9.9:1", "[::1]:80", "localhost:80"})
    EXPECT_TRUE(IsLoopbackAddress(yes));
  for (const char* no :
       {"10.0.0.1:80", "[::2]:80", "localhost.evil.org:80", "127.0.0.1", "127.0.0.1.evil.org:1"}) {
    EXPECT_FALSE(IsLoopbackAddress(no)) << no;
  }
}

// A CA with a certificate each for a server and a client, as an operator makes them.
class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char script[] = R"(
cd "$1"; ec="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
for ca in ca other; do openssl req -x509 $ec -days 2 -subj "/CN=$ca" -keyout $ca.key -out $ca.pem; done
cert() {
  openssl req -new $ec -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
  printf 'subjectAltName=%s\n' "$2" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA $3.pem -CAkey $3.key -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.pem"
}
cert server DNS:localhost,IP:127.0.0.1 ca; cert client DNS:w1 ca; cert stranger DNS:w1 other)";
    auto made = hydrant::Run({.argv = {"sh", "-ec", script, "sh", dir_.path()}}, {}, absl::Minutes(1));
    ASSERT_TRUE(made.ok() && made->status.ok()) << (made.ok() ? made->err : made.status().ToString());
  }
  TlsFiles Files(const std::string& name, const std::string& ca) {
    TlsFiles files{.ca = ca.empty() ? "" : dir_ / (ca + ".pem")};
    if (!name.empty()) files.cert = dir_ / (name + ".pem"), files.key = dir_ / (name + ".key");
    return files;
  }
  TestDir dir_;
};

TEST_F(TlsTest, BothSidesProveWhoTheyAre) {
  Served served(Files("server", "ca"));
  EXPECT_TRUE(Append(At(served.port), Files("client", "ca"), "t").ok());
  EXPECT_EQ(Append(At(served.port), Files("", "ca"), "t").error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Append(At(served.port), Files("stranger", "ca"), "t").error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, AServerOfAnotherAuthorityIsNotTrusted) {
  Served served(Files("server", ""));
  EXPECT_TRUE(Append(At(served.port), Files("", "ca"), "t").ok());
  EXPECT_EQ(Append(At(served.port), Files("", "other"), "t").error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, MissingAndHalfFilesAreNamed) {
  TlsFiles absent = Files("server", "");
  absent.key = dir_ / "absent.key";
  EXPECT_THAT(std::string(MakeChannel({"localhost:1", absent}).status().message()), HasSubstr("absent.key"));
  TlsFiles half = Files("server", "");
  half.key.clear();
  EXPECT_THAT(std::string(Served(half).listening.message()), HasSubstr("[tls] has a cert without a key"));
}

}  // namespace
}  // namespace hydrant::rpc
