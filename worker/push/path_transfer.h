// Brings store paths here and takes them away, for one attempt. Knows nothing of building.
#ifndef HYDRANT_WORKER_PUSH_PATH_TRANSFER_H_
#define HYDRANT_WORKER_PUSH_PATH_TRANSFER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/build/cancellation.h"
#include "worker/build/store_session.h"
#include "worker/push/cache_access.h"

namespace hydrant::worker {

struct PushResult {
  int64_t paths = 0;  // uploaded now
  int64_t bytes = 0;  // of them, compressed
};

class PathTransfer {
 public:
  virtual ~PathTransfer() = default;
  // Makes `paths` and all they refer to valid in the session's store and keeps them there while the session
  // lives. NotFound: no cache has one of them; other errors: it could not be had or is not what it claims.
  // Both name path and URL. Cancelled.
  virtual absl::Status Fetch(StoreSession& session, const CacheAccess& access,
                             const std::vector<std::string>& paths, Cancellation& cancellation) = 0;
  // Uploads `paths`, valid in the session's store, unless they are there. After OK the cache has verified
  // each.
  virtual absl::StatusOr<PushResult> Push(StoreSession& session, const CacheAccess& access,
                                          const std::vector<std::string>& paths,
                                          Cancellation& cancellation) = 0;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_PATH_TRANSFER_H_
