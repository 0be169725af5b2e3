// A listening TCP socket for "ADDRESS:PORT".
#ifndef HYDRANT_DAEMON_SERVE_HTTP_LISTEN_H_
#define HYDRANT_DAEMON_SERVE_HTTP_LISTEN_H_

#include <sys/socket.h>

#include <string>

#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace hydrant {

// `address`: "127.0.0.1:8580", "[::1]:8580", "0.0.0.0:0" (port 0: any free one). InvalidArgument when it is
// none of these, AlreadyExists when the port is taken; both name the address.
absl::StatusOr<UniqueFd> ListenOn(const std::string& address);
absl::StatusOr<int> PortOf(int fd);
bool IsLoopback(const sockaddr* address);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_HTTP_LISTEN_H_
