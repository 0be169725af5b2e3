// What the program says when it ends, and its status: 0 ok, 1 the work failed, 2 usage or configuration, 3 no
// server.
#ifndef HYDRANT_WORKER_EXIT_STATUS_H_
#define HYDRANT_WORKER_EXIT_STATUS_H_

#include <cstdio>

#include "absl/status/status.h"
#include "lib/base/status_macros.h"

namespace hydrant::worker {

inline int EndWith(int exit_status, const absl::Status& status) {
  const std::string text(status.message());
  std::fprintf(stderr, "hydrant-worker: %s\n", text.c_str());
  return exit_status;
}

// Of a conversation that ended.
inline int ExitStatusOf(const absl::Status& left) {
  switch (left.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kUnavailable:
      return EndWith(3, left);
    case absl::StatusCode::kUnauthenticated:
      return EndWith(2, Annotate(left, "hydrantd refuses the token"));
    case absl::StatusCode::kInvalidArgument:
      return EndWith(2, Annotate(left, "hydrantd refuses the offer"));
    case absl::StatusCode::kPermissionDenied:
      return EndWith(2, Annotate(left, "hydrantd refuses this worker"));
    default:
      return EndWith(1, left);
  }
}

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_EXIT_STATUS_H_
