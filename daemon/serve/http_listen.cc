#include "daemon/serve/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/base/file.h"

namespace hydrant {
namespace {

struct Address {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

absl::StatusOr<Address> ParseAddress(const std::string& text) {
  const auto bad = [&] {
    return absl::InvalidArgumentError(absl::StrCat(
        "listen address \"", text, "\": expected ADDRESS:PORT, like 127.0.0.1:8580 or [::1]:8580"));
  };
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return bad();
  std::string host = text.substr(0, colon);
  int port = 0;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 || port > 65535) return bad();
  Address address;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<uint16_t>(port));
    if (inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6->sin6_addr) != 1) return bad();
    address.length = sizeof *v6;
    return address;
  }
  if (host == "localhost") host = "127.0.0.1";
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(static_cast<uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) != 1) return bad();
  address.length = sizeof *v4;
  return address;
}

}  // namespace

absl::StatusOr<UniqueFd> ListenOn(const std::string& text) {
  const absl::StatusOr<Address> address = ParseAddress(text);
  if (!address.ok()) return address.status();
  UniqueFd fd(socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("listen on ", text));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->length) != 0 ||
      listen(fd.get(), 1024) != 0) {
    if (errno == EADDRINUSE) {
      return absl::AlreadyExistsError(absl::StrCat("listen on ", text, ": another program has this port"));
    }
    return ErrnoStatus(errno, absl::StrCat("listen on ", text));
  }
  return fd;
}

absl::StatusOr<int> PortOf(int fd) {
  Address address;
  address.length = sizeof address.storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    return ErrnoStatus(errno, "getsockname");
  }
  if (address.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

bool IsLoopback(const sockaddr* address) {
  if (address == nullptr) return false;
  if (address->sa_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24) == 127;
  }
  if (address->sa_family != AF_INET6) return false;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

}  // namespace hydrant
