#include "worker/push/test_cache.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/nix/narinfo.h"

namespace hydrant::worker {
namespace {

bool Receive(int fd, std::string& buffered) {
  char buffer[64 << 10];
  const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
  if (n <= 0) return false;
  buffered.append(buffer, static_cast<size_t>(n));
  return true;
}

bool Send(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool Reply(int fd, int code, const std::string& body, bool head, const std::string& extra = "") {
  return Send(fd, absl::StrCat("HTTP/1.1 ", code, " Said\r\nContent-Length: ", body.size(), "\r\n",
                               extra.empty() ? "" : extra + "\r\n", "\r\n", head ? "" : body));
}

}  // namespace

TestCache::TestCache() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_.get(), 64) != 0 ||
      getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

TestCache::~TestCache() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mu_);
    ending_ = true;
    shutdown(listener_.get(), SHUT_RDWR);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  acceptor_.join();
  {
    MutexLock lock(mu_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

std::string TestCache::url() const { return absl::StrCat("http://127.0.0.1:", port_); }

void TestCache::Order(Fault fault) {
  MutexLock lock(mu_);
  faults_.push_back(std::move(fault));
}

void TestCache::Heal() {
  MutexLock lock(mu_);
  faults_.clear();
}

void TestCache::Put(const std::string& path, std::string bytes) {
  MutexLock lock(mu_);
  files_[path] = std::move(bytes);
}

void TestCache::Remove(const std::string& path) {
  MutexLock lock(mu_);
  files_.erase(path);
}

std::optional<std::string> TestCache::File(const std::string& path) const {
  MutexLock lock(mu_);
  const auto it = files_.find(path);
  if (it == files_.end()) return std::nullopt;
  return it->second;
}

std::vector<std::string> TestCache::Seen() const {
  MutexLock lock(mu_);
  std::vector<std::string> result;
  for (const Request& request : seen_) result.push_back(absl::StrCat(request.method, " ", request.path));
  return result;
}

TestCache::Request TestCache::Last(const std::string& method) const {
  MutexLock lock(mu_);
  for (auto it = seen_.rbegin(); it != seen_.rend(); ++it) {
    if (it->method == method) return *it;
  }
  return {};
}

void TestCache::DemandReferences() {
  MutexLock lock(mu_);
  demand_references_ = true;
}

void TestCache::Accept() {
  for (;;) {
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    MutexLock lock(mu_);
    if (ending_ || fd < 0) {
      if (fd >= 0) close(fd);
      return;
    }
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    open_.push_back(fd);
    threads_.emplace_back([this, fd] { Serve(fd); });
  }
}

void TestCache::Serve(int fd) {
  std::string buffered;
  for (bool more = true; more;) {
    size_t end;
    while ((end = buffered.find("\r\n\r\n")) == std::string::npos) {
      if (!Receive(fd, buffered)) break;
    }
    if (end == std::string::npos) break;
    Request request;
    for (const auto line : absl::StrSplit(absl::string_view(buffered).substr(0, end), "\r\n")) {
      const std::pair<std::string, std::string> pair = absl::StrSplit(line, absl::MaxSplits(": ", 1));
      if (request.method.empty()) {
        const std::vector<std::string> words = absl::StrSplit(line, ' ');
        request.method = words[0];
        request.path = words.size() > 1 ? words[1] : "";
      } else {
        request.headers[absl::AsciiStrToLower(pair.first)] = pair.second;
      }
    }
    buffered.erase(0, end + 4);
    {
      MutexLock lock(mu_);
      seen_.push_back(request);
    }
    more = Answer(fd, request, buffered);
  }
  MutexLock lock(mu_);
  open_.erase(std::find(open_.begin(), open_.end(), fd));
  close(fd);
}

std::optional<TestCache::Fault> TestCache::FaultFor(const Request& request) {
  MutexLock lock(mu_);
  for (auto it = faults_.begin(); it != faults_.end(); ++it) {
    if (it->method != request.method || !absl::StrContains(request.path, it->part)) continue;
    const Fault fault = *it;
    if (--it->times == 0) faults_.erase(it);
    return fault;
  }
  return std::nullopt;
}

bool TestCache::Answer(int fd, Request& request, std::string& buffered) {
  const std::optional<Fault> fault = FaultFor(request);
  const bool head = request.method == "HEAD";
  if (fault && fault->before_body) {
    Reply(fd, fault->code, fault->text, head, "Connection: close");
    return false;
  }
  std::string body;
  size_t length = 0;
  if (const auto it = request.headers.find("content-length"); it != request.headers.end()) {
    if (!absl::SimpleAtoi(it->second, &length)) return false;
    if (request.headers.contains("expect") && !Send(fd, "HTTP/1.1 100 Continue\r\n\r\n")) return false;
    while (buffered.size() < length) {
      if (!Receive(fd, buffered)) return false;
    }
    body = buffered.substr(0, length);
    buffered.erase(0, length);
  }
  if (fault && !fault->truncate) {
    if (fault->code == 0) return false;
    return Reply(fd, fault->code, fault->text, head, fault->extra_header);
  }
  if (request.method == "PUT") {
    std::string text;
    const int code = Store(request.path, body, text);
    return Reply(fd, code, text, false);
  }
  const auto file = File(request.path);
  if (!file) return Reply(fd, 404, "absent", head);
  if (!fault) return Reply(fd, 200, *file, head);
  Send(fd, absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", file->size(), "\r\n\r\n",
                        file->substr(0, file->size() / 2)));
  return false;
}

int TestCache::Store(const std::string& path, const std::string& body, std::string& text) {
  std::string kept = body;
  if (absl::EndsWith(path, ".narinfo")) {
    auto info = nix::ParseNarInfo(body);
    if (!info.ok()) {
      text = std::string(info.status().message());
      return 422;
    }
    MutexLock lock(mu_);
    for (const nix::StorePath& reference : info->references) {
      const std::string at = absl::StrCat("/staged/", std::string(reference.hash_part()), ".narinfo");
      if (demand_references_ && reference != info->store_path && !files_.contains(at)) {
        text = "reference " + reference.path() + " is absent";
        return 409;
      }
    }
    info->signatures = {key_.Sign(nix::Fingerprint(*info))};
    kept = nix::PrintNarInfo(*info);
  }
  Put("/staged" + path, kept);
  return 201;
}

}  // namespace hydrant::worker
