#include "tests/bench/presence/delaying_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"

namespace hydrant {
namespace {

struct Pair {
  int client = -1, server = -1;
  absl::Time last_due;  // pieces keep their order
  bool done = false;
};
struct Piece {
  std::shared_ptr<Pair> pair;
  std::string bytes;  // empty: the server is done
};

class Proxy {
 public:
  explicit Proxy(const ProxyOptions& options) : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    Watch(options_.listener);
  }

  void Serve() {
    std::vector<epoll_event> events(256);
    for (;;) {
      HandOn();
      timespec wait = absl::ToTimespec(
          pieces_.empty() ? absl::Seconds(1)
                          : std::max(absl::ZeroDuration(), pieces_.begin()->first - absl::Now()));
      const int ready = epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &wait, nullptr);
      if (ready < 0) return;
      for (int i = 0; i < ready; ++i) {
        const int fd = events[static_cast<size_t>(i)].data.fd;
        if (fd == options_.listener) {
          Accept();
        } else {
          Read(fd);
        }
      }
    }
  }

 private:
  void Watch(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void Accept() {
    auto pair = std::make_shared<Pair>();
    pair->client = accept4(options_.listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (pair->client < 0) return;
    pair->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(options_.target));
    const int on = 1;
    for (const int fd : {pair->client, pair->server})
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(pair->server, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      return Close(*pair);
    pairs_[pair->client] = pairs_[pair->server] = pair;
    Watch(pair->client);
    Watch(pair->server);
  }

  void Read(int fd) {
    const auto found = pairs_.find(fd);
    if (found == pairs_.end()) return;
    const std::shared_ptr<Pair> pair = found->second;
    char buffer[65536];
    const ssize_t got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    const std::string bytes(buffer, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (fd == pair->client) {
      if (got <= 0 || send(pair->server, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) Close(*pair);
      return;
    }
    if (got <= 0) epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
    const bool slow = options_.slow_every > 0 && ++count_ % options_.slow_every == 0;
    pair->last_due = std::max(pair->last_due, absl::Now() + (slow ? options_.slow : options_.delay));
    pieces_.emplace(pair->last_due, Piece{pair, bytes});
  }

  void HandOn() {
    while (!pieces_.empty() && pieces_.begin()->first <= absl::Now()) {
      const Piece piece = std::move(pieces_.extract(pieces_.begin()).mapped());
      if (piece.pair->done) continue;
      const bool sent = !piece.bytes.empty() &&
                        send(piece.pair->client, piece.bytes.data(), piece.bytes.size(), MSG_NOSIGNAL) >= 0;
      if (!sent) Close(*piece.pair);
    }
  }

  void Close(Pair& pair) {
    pair.done = true;
    const int client = pair.client, server = pair.server;
    close(client);
    close(server);
    pairs_.erase(client);
    pairs_.erase(server);
  }

  const ProxyOptions options_;
  const int epoll_;
  int count_ = 0;
  std::map<int, std::shared_ptr<Pair>> pairs_;
  std::multimap<absl::Time, Piece> pieces_;
};

}  // namespace

void ServeDelayed(const ProxyOptions& options) { Proxy(options).Serve(); }

}  // namespace hydrant
