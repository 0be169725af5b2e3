// How one cache is reached: whose certificate is trusted and who we say that we are. Knows nothing of
// requests.
#ifndef HYDRANT_DAEMON_PRESENCE_UPSTREAM_ACCESS_H_
#define HYDRANT_DAEMON_PRESENCE_UPSTREAM_ACCESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hydrant {

// As configured. Files are read once, by OpenUpstreamAccess.
struct UpstreamAccessFiles {
  std::string credentials;  // one line, "user:password"; empty: none
  std::string netrc;        // of netrc(5); empty: none
  std::string ca;           // PEM, instead of the system's authorities; empty: the system's
};

// Never logged or put into an error: `user` and `password` are secrets. They go to the cache's own scheme,
// host and port, never along with a redirect to another.
struct UpstreamAccess {
  std::string user, password;
  std::string netrc_file, ca_file;
};

// NotFound and the like name the file. FailedPrecondition: others may read the credentials. InvalidArgument:
// not one line of user:password; the line is not told.
absl::StatusOr<UpstreamAccess> OpenUpstreamAccess(const UpstreamAccessFiles& files);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_UPSTREAM_ACCESS_H_
