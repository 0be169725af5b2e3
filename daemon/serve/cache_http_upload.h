// The bodies of uploads: who may send them, and what is made of them.
#ifndef HYDRANT_DAEMON_SERVE_CACHE_HTTP_UPLOAD_H_
#define HYDRANT_DAEMON_SERVE_CACHE_HTTP_UPLOAD_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/cache/nar_intake.h"
#include "daemon/cache/publisher.h"
#include "daemon/serve/authenticator.h"
#include "daemon/serve/http_message.h"
#include "daemon/serve/upload_rights.h"

namespace hydrant {

// The lease for which a worker uploads; an operator has none.
struct UploadLease {
  AttemptId attempt;
  LeaseToken token;
};

// The headers Hydrant-Attempt and Hydrant-Token. PermissionDenied when one is absent or no positive number.
absl::StatusOr<UploadLease> LeaseOf(const HttpRequest& request);

// The answer to a failed upload. `late`: after the body was read; then a fault of ours is a 409 for stock
// Nix, and 503 with Retry-After for our worker, which sends the body again.
HttpResponse UploadFault(const absl::Status& status, bool late, bool by_worker);

std::unique_ptr<BodyReceiver> ReceiveNar(std::unique_ptr<NarIntake::Upload> upload, bool by_worker);

struct NarInfoUpload {
  Publisher& publisher;
  UploadRights& rights;
  std::string hash_part;             // of the URL
  std::string content_encoding;      // of the body; empty: none
  std::optional<UploadLease> lease;  // staged for it; none: an operator's, published at once
};
std::unique_ptr<BodyReceiver> ReceiveNarInfo(NarInfoUpload upload);

// 200 when the body says of the cache what we say, else 403.
std::unique_ptr<BodyReceiver> ReceiveCacheInfo();

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_CACHE_HTTP_UPLOAD_H_
