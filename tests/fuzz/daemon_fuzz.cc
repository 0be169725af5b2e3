// A hostile Nix daemon: the first 8 bytes of an input are the operations that the client asks for, the rest
// is all that the daemon says. The client gets through or fails; once it is out of step it stays so.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "lib/base/mutex.h"
#include "lib/base/test_dir.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/daemon_client.h"
#include "tests/fuzz/daemon_operations.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

constexpr size_t kCalls = 8;

// Says what it was told to whoever connects, listens until the client has gone, and serves the next.
class Peer {
 public:
  Peer() : socket_(dir_ / "s"), listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_.copy(address.sun_path, sizeof address.sun_path - 1);
    Demand(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
               listen(listener_.get(), 1) == 0,
           "there is a socket", socket_);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Peer() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& socket_path() const { return socket_; }

  void Prepare(std::string_view words) {
    MutexLock lock(mu_);
    words_ = words;
  }

 private:
  void Serve() {
    while (true) {
      const UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.valid()) return;
      std::string words;
      {
        MutexLock lock(mu_);
        words = words_;
      }
      // The client reads while it writes, so this never blocks for ever.
      for (std::string_view left = words; !left.empty();) {
        const ssize_t n = send(client.get(), left.data(), left.size(), MSG_NOSIGNAL);
        if (n <= 0) break;
        left.remove_prefix(n);
      }
      shutdown(client.get(), SHUT_WR);
      char heard[4096];
      while (read(client.get(), heard, sizeof heard) > 0) continue;
    }
  }

  const TestDir dir_;
  const std::string socket_;
  const UniqueFd listener_;
  Mutex mu_;
  std::string words_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

bool OutOfStep(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kDataLoss;
}

}  // namespace

void FuzzDaemon(std::string_view input) {
  if (input.size() < kCalls) return;
  static Peer peer;
  peer.Prepare(input.substr(kCalls));
  auto client = nix::DaemonClient::Connect({.socket = peer.socket_path(), .reply_timeout = absl::Seconds(5)});
  if (!client.ok()) {
    Demand(client.status().code() != absl::StatusCode::kDeadlineExceeded, "a daemon that went is noticed",
           client.status().ToString());
    return;
  }
  bool ended = false;
  for (const char number : input.substr(0, kCalls)) {
    const auto operations = DaemonOperations();
    const DaemonOperation& operation = operations[static_cast<unsigned char>(number) % operations.size()];
    const absl::Status status = operation.call(**client);
    const std::string got = std::string(operation.name) + ": " + status.ToString();
    Demand(status.code() != absl::StatusCode::kDeadlineExceeded, "a daemon that went is noticed", got);
    Demand(status.code() != absl::StatusCode::kInvalidArgument,
           "what the daemon says is no fault of the caller's", got);
    Demand(!ended || OutOfStep(status.code()), "a connection that is out of step stays so", got);
    ended = OutOfStep(status.code());
  }
}

}  // namespace hydrant::fuzz
