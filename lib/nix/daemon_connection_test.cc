// How a connection begins, and how it ends while something runs.
#include "lib/nix/daemon_connection.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

// A builder that says "started" into a pipe outside of its sandbox and hangs. The pipe ends when the last
// process that belongs to the build is gone.
class HungBuildTest : public testing::Test {
 protected:
  HungBuildTest() : store_("/pipes=" + (pipes_ / "")) {
    EXPECT_EQ(mkfifo((pipes_ / "pipe").c_str(), 0666), 0);
    pipe_.Reset(open((pipes_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    fcntl(pipe_.get(), F_SETFL, 0);
    // Keeps reads waiting until the builder has opened its end.
    keeper_.Reset(open((pipes_ / "pipe").c_str(), O_WRONLY | O_CLOEXEC));
    drv_ = store_
               .Instantiate(ProbeExpression(
                   "exec 3>/pipes/pipe; echo started >&3; while true; do read x < /pipes/never; done"))
               .value();
    EXPECT_EQ(mkfifo((pipes_ / "never").c_str(), 0666), 0);
  }

  void AwaitStart() {
    char started[8];
    ASSERT_EQ(read(pipe_.get(), started, 8), 8);
    keeper_.Reset();
  }
  // Returns only when no process of the build is left.
  void AwaitEnd() {
    char none;
    EXPECT_EQ(read(pipe_.get(), &none, 1), 0);
  }

  TestDir pipes_;
  TestStore store_;
  UniqueFd pipe_, keeper_;
  std::string drv_;
};

TEST_F(HungBuildTest, CloseFromAnotherThreadCancelsItAndKillsTheBuilder) {
  auto client = store_.Connect().value();
  std::thread canceller([&] {
    AwaitStart();
    client->Close();
  });
  EXPECT_EQ(client->BuildDerivation(drv_, ResolveInputs(store_, drv_), nullptr).status().code(),
            absl::StatusCode::kCancelled);
  canceller.join();
  AwaitEnd();
  EXPECT_EQ(client->IsValidPath(drv_).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(HungBuildTest, KilledClientTakesItsBuilderWithIt) {
  const pid_t child = fork();
  if (child == 0) {
    auto client = store_.Connect();
    if (client.ok()) (void)(*client)->BuildDerivation(drv_, ResolveInputs(store_, drv_), nullptr);
    _exit(0);
  }
  AwaitStart();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  AwaitEnd();
}

TEST_F(HungBuildTest, KilledDaemonIsUnavailable) {
  auto client = store_.Connect().value();
  std::thread killer([&] {
    AwaitStart();
    kill(client->daemon_pid(), SIGTERM);
  });
  EXPECT_EQ(client->BuildDerivation(drv_, ResolveInputs(store_, drv_), nullptr).status().code(),
            absl::StatusCode::kUnavailable);
  killer.join();
  AwaitEnd();
}

// A `nix-daemon` that listens on a socket under the store's folder.
class SocketDaemonTest : public HungBuildTest {
 protected:
  SocketDaemonTest() {
    auto env = store_.env();
    env["NIX_DAEMON_SOCKET_PATH"] = socket();
    env["NIX_REMOTE"] = "";
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    daemon_ =
        Subprocess::Start({.argv = {"nix-daemon", "--store", store_.root()}, .env = env, .stderr_fd = fds[1]})
            .value();
    close(fds[1]);
    UniqueFd said(fds[0]);
  }
  std::string socket() const { return pipes_ / "socket"; }
  absl::StatusOr<std::unique_ptr<DaemonClient>> ConnectOnceItListens() {
    while (!daemon_->WaitFor(absl::ZeroDuration()).has_value()) {
      auto client = DaemonClient::Connect({.socket = socket()});
      if (client.ok() || client.status().code() != absl::StatusCode::kUnavailable) return client;
      std::this_thread::yield();
    }
    return absl::UnavailableError("the daemon ended");
  }
  std::unique_ptr<Subprocess> daemon_;
};

TEST_F(SocketDaemonTest, BuildsOverTheSocketAndCloseCancels) {
  auto client = ConnectOnceItListens();
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_THAT(store_.Nix({"nix-daemon", "--version"})->out, HasSubstr((*client)->daemon_version()));
  EXPECT_EQ((*client)->daemon_pid(), -1);
  EXPECT_TRUE((*client)->IsValidPath(drv_).value());
  std::thread canceller([&] {
    AwaitStart();
    (*client)->Close();
  });
  EXPECT_EQ((*client)->BuildDerivation(drv_, ResolveInputs(store_, drv_), nullptr).status().code(),
            absl::StatusCode::kCancelled);
  canceller.join();
  AwaitEnd();
}

TEST(DaemonConnectTest, AbsentSocketAndAbsentProgramAreUnavailable) {
  const TestStore store;
  EXPECT_EQ(DaemonClient::Connect({.socket = store.dir() / "no-socket"}).status().code(),
            absl::StatusCode::kUnavailable);
  auto options = store.client_options();
  options.env["PATH"] = "/nowhere";
  EXPECT_EQ(DaemonClient::Connect(options).status().code(), absl::StatusCode::kUnavailable);
}

TEST(DaemonConnectTest, DaemonThatCannotStartIsQuoted) {
  const TestStore store;
  auto options = store.client_options();
  ASSERT_TRUE(WriteFileAtomically(store.dir() / "file", "").ok());
  options.store_root = store.dir() / "file";
  const absl::Status status = DaemonClient::Connect(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("it said: error: "));
}

// A listener that answers one connection with canned bytes.
class CannedDaemon {
 public:
  explicit CannedDaemon(const std::string& greeting) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd_.get(), 1), 0);
    thread_ = std::thread([this, greeting] {
      UniqueFd peer(accept(fd_.get(), nullptr, nullptr));
      if (send(peer.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL) < 0) return;
      char block[256];
      while (read(peer.get(), block, sizeof block) > 0) {
      }
    });
  }
  ~CannedDaemon() { thread_.join(); }
  std::string path() const { return dir_ / "socket"; }

 private:
  TestDir dir_;
  UniqueFd fd_;
  std::thread thread_;
};

std::string Numbers(std::initializer_list<uint64_t> numbers) {
  std::string out;
  for (const uint64_t n : numbers) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(n >> (8 * i));
  }
  return out;
}

TEST(DaemonConnectTest, OldDaemonIsAFailedPrecondition) {
  CannedDaemon daemon(Numbers({0x6478696f, 0x114}));
  const absl::Status status = DaemonClient::Connect({.socket = daemon.path()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("protocol 1.20, expected 1.21 or newer"));
}

TEST(DaemonConnectTest, NewerDaemonIsSpokenToInOurVersion) {
  CannedDaemon daemon(Numbers({0x6478696f, 0x140, 0, 6}) + std::string("2.40.0\0\0", 8) +
                      Numbers({2, 0x616c7473}));
  const auto client = DaemonClient::Connect({.socket = daemon.path()});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_EQ((*client)->protocol_version(), uint64_t{1} << 8 | 38);
  EXPECT_EQ((*client)->daemon_version(), "2.40.0");
  EXPECT_EQ((*client)->trusted(), false);
}

TEST(DaemonConnectTest, StrangerIsDataLoss) {
  CannedDaemon daemon("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(DaemonClient::Connect({.socket = daemon.path()}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(DaemonConnectTest, SilentPeerIsDeadlineExceeded) {
  CannedDaemon daemon("");
  EXPECT_EQ(DaemonClient::Connect({.socket = daemon.path(), .reply_timeout = absl::Milliseconds(1)})
                .status()
                .code(),
            absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace hydrant::nix
