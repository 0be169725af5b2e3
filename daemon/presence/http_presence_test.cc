// Against a real nginx that serves a folder.
#include "daemon/presence/http_presence.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/narinfo.h"
#include "tests/fakes/manual_clock.h"

namespace hydrant {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kGlibc[] = "/nix/store/00000000000000000000000000000001-glibc-2.35";
constexpr char kGcc[] = "/nix/store/00000000000000000000000000000002-gcc-11.3";

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

int FreePort() {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool Listens(int port) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = Loopback(port);
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// Serves `files` of its folder under /, and under /denied, /broken, /slow (a byte a second), /moved and /html
// what those say; `tls`: the same over HTTP/2, by a certificate of its own (tls/cert.pem).
class Nginx {
 public:
  explicit Nginx(bool tls = false) : port_(FreePort()), tls_(tls) {
    std::filesystem::create_directories(dir_ / "files");
    std::filesystem::create_directories(dir_ / "tmp");
    if (tls_) MakeCertificate();
    const std::string config = absl::StrReplaceAll(
        kConfig, {{"DIR", dir_.path()}, {"LISTEN", absl::StrCat("127.0.0.1:", port_, tls_ ? kTls : "")}});
    EXPECT_EQ(WriteFileAtomically(dir_ / "nginx.conf", config), absl::OkStatus());
    Start();
  }

  void Start() {
    auto started = Subprocess::Start(
        {.argv = {"nginx", "-p", dir_.path(), "-e", dir_ / "error.log", "-c", dir_ / "nginx.conf"}});
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    while (!Listens(port_)) {
      ASSERT_FALSE(server_->WaitFor(absl::Milliseconds(5)).has_value())
          << ReadFile(dir_ / "error.log").value_or("no nginx");
    }
  }
  void Stop() { server_->Stop(absl::Seconds(5)); }

  std::string Url(const std::string& folder = "") const {
    return absl::StrCat(tls_ ? "https" : "http", "://127.0.0.1:", port_, folder);
  }
  std::string Certificate() const { return dir_ / "cert.pem"; }
  std::string AccessLog() const { return ReadFile(dir_ / "access.log").value_or(""); }
  std::string FileOf(const std::string& store_path) const {
    return dir_ / ("files/" + store_path.substr(11, 32) + ".narinfo");
  }
  // The narinfo of `of` where that of `path` belongs.
  void Put(const std::string& path, const std::string& of) {
    nix::NarInfo info;
    info.store_path = *nix::StorePath::Parse(of);
    info.url = "nar/1.nar";
    info.compression = "none";
    info.nar_size = 120;
    std::ofstream(FileOf(path)) << nix::PrintNarInfo(info);
  }
  void Put(const std::string& path) { Put(path, path); }
  void Remove(const std::string& path) { std::filesystem::remove(FileOf(path)); }

 private:
  void MakeCertificate() {
    auto made =
        Run({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-days", "2", "-subj", "/CN=cache", "-addext", "subjectAltName=IP:127.0.0.1",
                      "-keyout", dir_ / "key.pem", "-out", dir_ / "cert.pem"},
             .pipe_stderr = true});
    ASSERT_TRUE(made.ok() && made->status.ok()) << (made.ok() ? made->err : made.status().ToString());
  }

  static constexpr char kTls[] = " ssl http2; ssl_certificate cert.pem; ssl_certificate_key key.pem";
  static constexpr char kConfig[] = R"(
daemon off; master_process off; pid DIR/pid; error_log DIR/error.log;
events { worker_connections 256; }
http {
  log_format used '$server_protocol $status $connection'; access_log DIR/access.log used; default_type text/x-nix-narinfo; postpone_output 1;
  client_body_temp_path DIR/tmp; proxy_temp_path DIR/tmp; fastcgi_temp_path DIR/tmp; scgi_temp_path DIR/tmp; uwsgi_temp_path DIR/tmp;
  server {
    listen LISTEN; root DIR/files;
    location /denied/ { return 401; }
    location /broken/ { return 503; }
    location /html/ { return 200 "<html>Please log in</html>"; }
    location /moved/ { rewrite ^/moved/(.*)$ /$1 redirect; }
    location /slow/ { rewrite ^/slow/(.*)$ /$1 break; limit_rate 1; }
  }
}
)";
  TestDir dir_;
  const int port_;
  const bool tls_;
  std::unique_ptr<Subprocess> server_;
};

class HttpPresenceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("no_proxy", "*", 1); }

  std::unique_ptr<HttpPresence> Open(std::vector<std::string> caches,
                                     absl::Duration timeout = absl::Seconds(30)) {
    HttpPresence::Options options = {.caches = std::move(caches)};
    options.fetch.timeout = timeout;
    options.breaker.failures_to_open = 4;
    return *HttpPresence::Open(std::move(options), clock_);
  }
  static Answer One(HttpPresence& presence, const std::string& path) { return presence.Ask({path})[path]; }

  Nginx nginx_;
  ManualClock clock_;
};

TEST_F(HttpPresenceTest, ANarInfoIsPresentAndNoneIsAbsent) {
  nginx_.Put(kGlibc);
  auto presence = Open({nginx_.Url("/")});
  auto answers = presence->Ask({kGlibc, kGcc});
  EXPECT_EQ(answers[kGlibc].held, Held::kPresent);
  EXPECT_EQ(answers[kGlibc].cache, nginx_.Url("/"));
  EXPECT_EQ(answers[kGcc].held, Held::kAbsent);
}

TEST_F(HttpPresenceTest, WithoutACacheAllIsAbsent) { EXPECT_EQ(One(*Open({}), kGlibc).held, Held::kAbsent); }

TEST_F(HttpPresenceTest, ARefusalAnErrorAndAPageAreUnknownNeverAbsent) {
  for (const auto& [folder, why] :
       {std::pair{"/denied", "HTTP 401"}, {"/broken", "HTTP 503"}, {"/html", "not a narinfo"}}) {
    const Answer answer = One(*Open({nginx_.Url(folder)}), kGlibc);
    EXPECT_EQ(answer.held, Held::kUnknown) << folder;
    EXPECT_THAT(answer.why, AllOf(HasSubstr(nginx_.Url(folder)), HasSubstr(why)));
  }
}

TEST_F(HttpPresenceTest, ACacheTooSlowToAnswerIsUnknown) {
  nginx_.Put(kGlibc);
  const Answer answer = One(*Open({nginx_.Url("/slow")}, absl::Milliseconds(100)), kGlibc);
  EXPECT_EQ(answer.held, Held::kUnknown);
  EXPECT_THAT(answer.why, HasSubstr("timed out"));
}

TEST_F(HttpPresenceTest, TheNarInfoOfAnotherPathIsUnknown) {
  nginx_.Put(kGlibc, kGcc);
  const Answer answer = One(*Open({nginx_.Url()}), kGlibc);
  EXPECT_EQ(answer.held, Held::kUnknown);
  EXPECT_THAT(answer.why, HasSubstr(kGcc));
}

TEST_F(HttpPresenceTest, ARedirectIsFollowedAndParametersAreNoPartOfThePath) {
  nginx_.Put(kGlibc);
  const std::string url = nginx_.Url("/moved?priority=10");
  EXPECT_EQ(One(*Open({url}), kGlibc).cache, url);
}

TEST_F(HttpPresenceTest, TheFirstCacheThatHasItIsNamedAndAFailingOneDoesNotHideIt) {
  nginx_.Put(kGlibc);
  auto presence = Open({nginx_.Url("/broken"), nginx_.Url()});
  EXPECT_EQ(One(*presence, kGlibc).cache, nginx_.Url());
  EXPECT_EQ(One(*presence, kGcc).held, Held::kUnknown);  // the broken one might have it
}

TEST_F(HttpPresenceTest, PresentIsRememberedForAnHourAndAbsentForAMinute) {
  nginx_.Put(kGlibc);
  auto presence = Open({nginx_.Url()});
  ASSERT_EQ(presence->Ask({kGlibc, kGcc}).size(), 2u);
  nginx_.Remove(kGlibc);
  nginx_.Put(kGcc);
  clock_.Advance(absl::Seconds(59));
  EXPECT_EQ(One(*presence, kGlibc).held, Held::kPresent);
  EXPECT_EQ(One(*presence, kGcc).held, Held::kAbsent);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(One(*presence, kGcc).held, Held::kPresent);
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(One(*presence, kGlibc).held, Held::kAbsent);
}

TEST_F(HttpPresenceTest, ACacheThatFailsTooOftenIsLeftAloneForAWhile) {
  nginx_.Put(kGlibc);
  auto presence = Open({nginx_.Url()});
  nginx_.Stop();
  presence->Ask({kGlibc, kGcc});
  nginx_.Start();
  EXPECT_THAT(One(*presence, kGlibc).why, HasSubstr("not asked"));
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(One(*presence, kGlibc).held, Held::kPresent);
}

TEST_F(HttpPresenceTest, ManyPathsAreAskedAtOnce) {
  std::vector<std::string> paths;
  for (int i = 1000; i < 1500; ++i) {
    paths.push_back(absl::StrCat("/nix/store/", std::string(28, '0'), i, "-p"));
    if (i % 2 == 0) nginx_.Put(paths.back());
  }
  auto answers = Open({nginx_.Url()})->Ask(paths);
  for (int i = 1000; i < 1500; ++i) {
    ASSERT_EQ(answers[paths[i - 1000]].held, i % 2 == 0 ? Held::kPresent : Held::kAbsent);
  }
}

TEST_F(HttpPresenceTest, OverTlsManyPathsShareOneHttp2Connection) {
  Nginx secure(/*tls=*/true);
  std::vector<std::string> paths;
  for (int i = 1000; i < 1300; ++i) {
    paths.push_back(absl::StrCat("/nix/store/", std::string(28, '0'), i, "-p"));
    secure.Put(paths.back());
  }
  auto presence = HttpPresence::Open(
      {.caches = {secure.Url()}, .access = {{secure.Url(), {.ca = secure.Certificate()}}}}, clock_);
  ASSERT_TRUE(presence.ok()) << presence.status();
  for (const auto& [path, answer] : (*presence)->Ask(paths))
    ASSERT_EQ(answer.held, Held::kPresent) << answer.why;
  secure.Stop();  // it writes its log out
  std::set<std::string> connections;
  int lines = 0;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(secure.AccessLog(), '\n', absl::SkipEmpty()))) {
    ASSERT_THAT(line, ::testing::StartsWith("HTTP/2.0 200 "));
    connections.insert(line.substr(13));
    ++lines;
  }
  EXPECT_EQ(lines, 300);
  EXPECT_EQ(connections.size(), 1u);
}

TEST_F(HttpPresenceTest, ACertificateThatNobodyVouchesForIsUnknown) {
  Nginx secure(/*tls=*/true);
  secure.Put(kGlibc);
  const Answer answer = One(*Open({secure.Url()}), kGlibc);
  EXPECT_EQ(answer.held, Held::kUnknown);
  EXPECT_THAT(answer.why, HasSubstr("certificate"));
}

TEST_F(HttpPresenceTest, AUrlThatIsNotHttpIsRefusedByName) {
  const auto opened = HttpPresence::Open({.caches = {"s3://bucket"}}, clock_);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("s3://bucket"));
}

TEST_F(HttpPresenceTest, WhatIsNoStorePathIsUnknown) {
  EXPECT_EQ(One(*Open({nginx_.Url()}), "/etc/passwd").held, Held::kUnknown);
}

}  // namespace
}  // namespace hydrant
