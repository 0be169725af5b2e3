// For tests: a daemon on a socket that does exactly what a test has it do, on a thread of its own.
#ifndef HYDRANT_LIB_NIX_SCRIPTED_DAEMON_FIXTURE_H_
#define HYDRANT_LIB_NIX_SCRIPTED_DAEMON_FIXTURE_H_

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "lib/base/test_dir.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/daemon_bytes_fixture.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_format.h"

namespace hydrant::nix {

inline constexpr uint64_t kLogNext = 0x6f6c6d67, kLogLast = 0x616c7473, kLogError = 0x63787470,
                          kLogStart = 0x53545254, kLogStop = 0x53544f50, kLogResult = 0x52534c54;

class ScriptedDaemon {
 public:
  using Script = std::function<void(ScriptedDaemon&)>;

  // Takes one connection and runs `script` on it; the connection ends when it returns.
  explicit ScriptedDaemon(Script script) : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
    thread_ = std::thread([this, script = std::move(script)] {
      peer_.Reset(accept(listener_.get(), nullptr, nullptr));
      script(*this);
      shutdown(peer_.get(), SHUT_WR);
      Listen();  // an unread byte would make the end a reset, which overtakes what was said
      peer_.Reset();
    });
  }
  ~ScriptedDaemon() { thread_.join(); }

  std::string path() const { return dir_ / "socket"; }
  DaemonClient::Options options(absl::Duration timeout = absl::Minutes(1)) const {
    return {.socket = path(), .reply_timeout = timeout};
  }

  // For scripts.
  int fd() const { return peer_.get(); }
  // False: the client is gone.
  bool Say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(n);
    }
    return true;
  }
  // What a daemon that speaks 1.`minor` says until it takes requests.
  static std::string Greeting(uint64_t minor = 34) {
    std::string bytes = Number(0x6478696f) + Number(1 << 8 | minor);
    if (minor >= 38) bytes += Number(0);
    if (minor >= 33) bytes += String("2.8.0");
    if (minor >= 35) bytes += Number(1);
    return bytes + Number(kLogLast);
  }
  // Says the greeting and takes all that the client says before its first request.
  bool Greet(uint64_t minor = 34) {
    WireWriter features;
    if (minor >= 38) features.PutStrings(OurFeatures());
    return Say(Greeting(minor)) && Hear(32 + features.bytes().size());
  }
  // Waits for so many bytes of what the client says.
  bool Hear(size_t bytes) {
    std::string block(bytes, '\0');
    for (size_t heard = 0; heard < bytes;) {
      const ssize_t n = read(fd(), block.data(), bytes - heard);
      if (n <= 0) return false;
      heard += n;
    }
    return true;
  }
  // Waits for a question about one path.
  bool HearQuestion(std::string_view path) { return Hear(8 + String(path).size()); }
  // Reads and forgets until the client is gone.
  void Listen() {
    char block[4096];
    while (read(fd(), block, sizeof block) > 0) {
    }
  }
  // A byte a millisecond, until the client is gone.
  void Trickle(char byte) {
    char block[4096];
    while (true) {
      pollfd gone{fd(), POLLIN, 0};
      if (poll(&gone, 1, 1) > 0 && read(fd(), block, sizeof block) <= 0) return;
      if (!Say(std::string_view(&byte, 1))) return;
    }
  }

 private:
  TestDir dir_;
  UniqueFd listener_, peer_;
  std::thread thread_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_SCRIPTED_DAEMON_FIXTURE_H_
