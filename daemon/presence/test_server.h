// For tests: an HTTP/1.1 server whose replies are written by hand, kept-alive, one thread a connection, and
// that remembers the heads of its requests.
#ifndef HYDRANT_DAEMON_PRESENCE_TEST_SERVER_H_
#define HYDRANT_DAEMON_PRESENCE_TEST_SERVER_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/mutex.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/narinfo.h"

namespace hydrant {

inline std::string NarInfoText(const std::string& store_path) {
  nix::NarInfo info;
  info.store_path = *nix::StorePath::Parse(store_path);
  info.url = "nar/1.nar";
  info.compression = "none";
  info.nar_size = 120;
  return nix::PrintNarInfo(info);
}

inline std::string HttpText(const std::string& status, const std::string& body = "",
                            const std::string& headers = "") {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Length: ", body.size(), "\r\n", headers, "\r\n",
                      body);
}

class TestServer {
 public:
  // From the head of a request to the bytes of the reply; one without a length must be last. Any thread; may
  // block.
  using Handler = std::function<std::string(const std::string& head)>;

  explicit TestServer(Handler handler)
      : handler_(std::move(handler)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_.get(), 512), 0);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~TestServer() {
    shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    for (const UniqueFd& fd : connections_) shutdown(fd.get(), SHUT_RDWR);
    for (std::thread& thread : threads_) thread.join();
  }

  int port() const { return port_; }
  std::string Url(const std::string& host = "127.0.0.1") const {
    return absl::StrCat("http://", host, ":", port_);
  }
  std::vector<std::string> Heads() {
    MutexLock lock(mu_);
    return heads_;
  }
  int Count(const std::string& part) {
    MutexLock lock(mu_);
    return CountLocked(part);
  }
  // Blocks until `count` requests with `part` in their heads came.
  void Await(const std::string& part, int count) {
    MutexLock lock(mu_);
    while (CountLocked(part) < count) came_.Wait(mu_);
  }

 private:
  int CountLocked(const std::string& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    int count = 0;
    for (const std::string& head : heads_) count += head.find(part) != std::string::npos ? 1 : 0;
    return count;
  }
  void Accept() {
    for (;;) {
      const int fd = accept(listener_.get(), nullptr, nullptr);
      if (fd < 0) return;
      connections_.emplace_back(fd);
      threads_.emplace_back([this, fd] { Serve(fd); });
    }
  }
  void Serve(int fd) {
    std::string read_ahead;
    char buffer[4096];
    for (;;) {
      size_t end = read_ahead.find("\r\n\r\n");
      if (end == std::string::npos) {
        const ssize_t got = read(fd, buffer, sizeof(buffer));
        if (got <= 0) return;
        read_ahead.append(buffer, static_cast<size_t>(got));
        continue;
      }
      const std::string head = read_ahead.substr(0, end);
      read_ahead.erase(0, end + 4);
      {
        MutexLock lock(mu_);
        heads_.push_back(head);
        came_.NotifyAll();
      }
      const std::string reply = handler_(head);
      if (send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return;
      if (reply.find("Content-Length") == std::string::npos) {
        shutdown(fd, SHUT_WR);
        return;
      }
    }
  }

  const Handler handler_;
  const UniqueFd listener_;
  int port_ = 0;
  Mutex mu_;
  CondVar came_;
  std::vector<std::string> heads_ ABSL_GUARDED_BY(mu_);
  std::thread acceptor_;
  std::vector<UniqueFd> connections_;  // the acceptor's, then the destructor's
  std::vector<std::thread> threads_;
};

// Holds whoever comes until it is opened.
class TestGate {
 public:
  void Open() {
    MutexLock lock(mu_);
    open_ = true;
    opened_.NotifyAll();
  }
  void Pass() {
    MutexLock lock(mu_);
    while (!open_) opened_.Wait(mu_);
  }

 private:
  Mutex mu_;
  CondVar opened_;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_TEST_SERVER_H_
