// Whether a worker may upload something for an attempt. The coordinator knows; the HTTP side asks.
#ifndef HYDRANT_DAEMON_SERVE_UPLOAD_RIGHTS_H_
#define HYDRANT_DAEMON_SERVE_UPLOAD_RIGHTS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/graph/ids.h"

namespace hydrant {

class UploadRights {
 public:
  virtual ~UploadRights() = default;
  // `store_path`: what a narinfo is about, which must be an output of the attempt's derivation; empty: a NAR,
  // any live lease will do. PermissionDenied, or Aborted when the token is not current. Any thread.
  virtual absl::Status MayUpload(AttemptId attempt, LeaseToken token, std::string_view store_path) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_UPLOAD_RIGHTS_H_
