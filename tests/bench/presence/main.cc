// 20,000 store paths, half of them there, asked of a local nginx that a proxy puts 5 ms away: many questions
// at once against one at a time (two samples of 250 on one kept-alive connection, one before and one after,
// extrapolated), and a walk of a graph that asks on at once against one that ends each level first. Ratios of
// one run; no figure makes it fail.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "daemon/presence/http_presence.h"
#include "daemon/presence/pruned_walk.h"
#include "lib/base/file.h"
#include "lib/base/subprocess.h"
#include "lib/base/test_dir.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/narinfo.h"
#include "tests/bench/presence/delaying_proxy.h"

namespace hydrant {
namespace {

constexpr int kPaths = 20'000, kSample = 250, kLevels = 40;
constexpr char kNginx[] = R"(
daemon off; master_process off; pid DIR/pid; error_log DIR/error.log;
events { worker_connections 1024; }
http {
  access_log off; default_type text/x-nix-narinfo; keepalive_requests 1000000;
  client_body_temp_path DIR/tmp; proxy_temp_path DIR/tmp; fastcgi_temp_path DIR/tmp; scgi_temp_path DIR/tmp; uwsgi_temp_path DIR/tmp;
  server { listen 127.0.0.1:PLAIN; root DIR/files; }
  server { listen 127.0.0.1:SECURE ssl http2; ssl_certificate cert.pem; ssl_certificate_key key.pem; root DIR/files; }
}
)";

[[noreturn]] void Die(const std::string& why) {
  std::cerr << why << "\n";
  exit(2);
}

// A listening socket on loopback, and its port.
std::pair<UniqueFd, int> Listen() {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd.get(), 1024) != 0)
    Die("no port");
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return {std::move(fd), ntohs(address.sin_port)};
}

std::string Path(int number) {
  return absl::StrCat("/nix/store/", std::string(26, '0'), 100'000 + number, "-p");
}
bool IsThere(int number) { return number % 2 == 0; }

// A process that only delays; ends with us.
class ProxyProcess {
 public:
  explicit ProxyProcess(ProxyOptions options) {
    auto [listener, port] = Listen();
    port_ = port;
    options.listener = listener.get();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ServeDelayed(options);
      _exit(1);
    }
  }
  ~ProxyProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  int port() const { return port_; }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

class Bench {
 public:
  Bench() {
    for (const char* folder : {"files", "tmp"}) std::filesystem::create_directories(dir_ / folder);
    for (int i = 0; i < kPaths; i += 1) {
      if (!IsThere(i)) continue;
      nix::NarInfo info;
      info.store_path = *nix::StorePath::Parse(Path(i));
      info.url = "nar/1.nar";
      info.compression = "none";
      info.nar_size = 120;
      std::ofstream(dir_ / absl::StrCat("files/", Path(i).substr(11, 32), ".narinfo"))
          << nix::PrintNarInfo(info);
    }
    auto made =
        Run({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-days", "2", "-subj", "/CN=cache", "-addext", "subjectAltName=IP:127.0.0.1",
                      "-keyout", dir_ / "key.pem", "-out", dir_ / "cert.pem"},
             .pipe_stderr = true});
    if (!made.ok() || !made->status.ok()) Die("openssl made no certificate");
    plain_ = Listen().second;
    secure_ = Listen().second;
    const std::string config = absl::StrReplaceAll(
        kNginx, {{"DIR", dir_.path()}, {"PLAIN", absl::StrCat(plain_)}, {"SECURE", absl::StrCat(secure_)}});
    if (!WriteFileAtomically(dir_ / "nginx.conf", config).ok()) Die("no nginx.conf");
    auto started = Subprocess::Start(
        {.argv = {"nginx", "-p", dir_.path(), "-e", dir_ / "error.log", "-c", dir_ / "nginx.conf"}});
    if (!started.ok()) Die(started.status().ToString());
    nginx_ = *std::move(started);
  }

  // The questions per second of one at a time, and of many at once.
  double Row(const char* name, bool secure) {
    const ProxyProcess proxy({.target = secure ? secure_ : plain_, .delay = absl::Milliseconds(5)});
    const std::string url = absl::StrCat(secure ? "https" : "http", "://127.0.0.1:", proxy.port());
    AwaitServer(url);
    const double before = Ask(url, kSample, 1);
    const double many = Ask(url, kPaths, 100);
    const double after = Ask(url, kSample, 1);
    const double serial = (before + after) / (2 * kSample) * kPaths;
    const double ratio = serial / many;
    printf("%-24s one at a time %7.1f s (from %d), 100 at a time %6.2f s: %.1f times faster\n", name, serial,
           2 * kSample, many, ratio);
    return ratio;
  }

  // By levels, at once, by levels: a graph of kLevels levels, of which each fiftieth reply takes 50 ms.
  void WalkRow() {
    const ProxyProcess proxy(
        {.target = plain_, .delay = absl::Milliseconds(5), .slow_every = 50, .slow = absl::Milliseconds(50)});
    const std::string url = absl::StrCat("http://127.0.0.1:", proxy.port());
    AwaitServer(url);
    const double before = Walk(url, true), at_once = Walk(url, false), after = Walk(url, true);
    printf("%-24s level by level  %6.2f s, asking on at once %6.2f s: %.2f times faster\n", "walk of 4000",
           (before + after) / 2, at_once, (before + after) / 2 / at_once);
  }

 private:
  // Only Ask: Follow goes by rounds.
  class ByLevels final : public Presence {
   public:
    explicit ByLevels(Presence& presence) : presence_(presence) {}
    std::map<std::string, Answer> Ask(const std::vector<std::string>& paths) override {
      return presence_.Ask(paths);
    }

   private:
    Presence& presence_;
  };

  std::unique_ptr<HttpPresence> Open(const std::string& url, int in_flight) {
    auto opened = HttpPresence::Open(
        {.caches = {url}, .access = {{url, {.ca = dir_ / "cert.pem"}}}, .in_flight = in_flight}, clock_);
    if (!opened.ok()) Die(opened.status().ToString());
    return *std::move(opened);
  }

  void AwaitServer(const std::string& url) {
    const auto presence = Open(url, 1);
    for (int tries = 0; presence->Ask({Path(0)})[Path(0)].held != Held::kPresent; ++tries) {
      if (tries == 5) Die("nginx does not answer: " + ReadFile(dir_ / "error.log").value_or(""));
    }
  }

  // Seconds for the first `count` paths, once the connection stands.
  double Ask(const std::string& url, int count, int in_flight) {
    std::vector<std::string> paths;
    for (int i = 0; i < count; ++i) paths.push_back(Path(i));
    const auto presence = Open(url, in_flight);
    presence->Ask({Path(kPaths - 1)});
    const absl::Time start = absl::Now();
    auto answers = presence->Ask(paths);
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    for (int i = 0; i < count; ++i) {
      const Answer& answer = answers[Path(i)];
      if (answer.held != (IsThere(i) ? Held::kPresent : Held::kAbsent))
        Die("wrong answer for " + Path(i) + " " + answer.why);
    }
    return seconds;
  }

  double Walk(const std::string& url, bool by_levels) {
    constexpr int kNodes = 4000, kWidth = kNodes / kLevels;
    const auto presence = Open(url, 100);
    presence->Ask({Path(kPaths - 1)});
    ByLevels levels(*presence);
    // Odd paths are absent, so that the walk goes to the end.
    const auto node_of = [](const std::string& derivation) {
      const int number = atoi(derivation.c_str());
      std::minstd_rand random(static_cast<unsigned>(number) + 1);
      WalkNode node{{Path(2 * number + 1)}, {}};
      const int next = (number / kWidth + 1) * kWidth;
      for (int i = 0; i < 3 && next < kNodes; ++i)
        node.inputs.push_back(absl::StrCat(next + static_cast<int>(random() % kWidth)));
      return node;
    };
    std::vector<std::string> roots;
    for (int i = 0; i < kWidth; ++i) roots.push_back(absl::StrCat(i));
    const absl::Time start = absl::Now();
    const WalkResult result = PrunedWalk(
        roots, node_of, [](const std::string&) { return false; },
        by_levels ? static_cast<Presence&>(levels) : *presence);
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    if (!result.held.empty() || !result.unknown.empty()) Die("wrong walk");
    return seconds;
  }

  TestDir dir_;
  const SystemClock clock_;
  int plain_ = 0, secure_ = 0;
  std::unique_ptr<Subprocess> nginx_;
};

int Main() {
  setenv("no_proxy", "*", 1);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  Bench bench;
  bench.Row("HTTP/1.1", false);
  bench.Row("HTTP/2 over TLS", true);
  bench.WalkRow();
  return 0;
}

}  // namespace
}  // namespace hydrant

int main() { return hydrant::Main(); }
