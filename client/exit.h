// The exit statuses of the program.
#ifndef HYDRANT_CLIENT_EXIT_H_
#define HYDRANT_CLIENT_EXIT_H_

#include "absl/status/status.h"

namespace hydrant::client {

enum class Exit { kOk = 0, kWorkFailed = 1, kUsage = 2, kUnreachable = 3 };

// What was asked for wrongly (an argument, a name, a file, a token) is kUsage; a server or its database that
// is away is kUnreachable; every other error is kWorkFailed.
inline Exit ExitOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Exit::kOk;
    case absl::StatusCode::kUnavailable:
      return Exit::kUnreachable;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return Exit::kUsage;
    default:
      return Exit::kWorkFailed;
  }
}

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_EXIT_H_
