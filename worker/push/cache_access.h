// The binary cache of the farm as one attempt may use it: addresses, token, keys, and requests that are
// repeated until they are answered. Knows nothing of a store.
#ifndef HYDRANT_WORKER_PUSH_CACHE_ACCESS_H_
#define HYDRANT_WORKER_PUSH_CACHE_ACCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/backoff.h"
#include "worker/push/http_client.h"

namespace hydrant::worker {

struct CacheKeys {
  std::string url;                       // without a slash at the end
  std::vector<std::string> public_keys;  // "name:base64"; one must have signed
};

struct CacheAccess {
  CacheKeys staged;  // url: the cache's own base; its staged paths are under "/staged/"
  std::vector<CacheKeys> substituters;
  std::string token;        // of the worker
  std::string attempt_id;   // sent with uploads
  std::string lease_token;  // sent with uploads
};

struct RetryPolicy {
  Backoff backoff{.first = absl::Milliseconds(500), .most = absl::Seconds(30)};
  // After so long without an answer, or with answers of 5xx and 429 only, the request has failed.
  absl::Duration give_up_after = absl::Minutes(30);
};

// Calls `request` until it gives an answer other than 408, 425, 429 or 5xx, waiting as the server or the
// policy says. The last answer or error when it gives up; Cancelled by `cancellation`.
absl::StatusOr<HttpReply> Retry(const RetryPolicy& policy, Cancellation& cancellation,
                                const std::function<absl::StatusOr<HttpReply>()>& request);

// "URL answered 409: its text".
std::string Describe(const std::string& url, const HttpReply& reply);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_CACHE_ACCESS_H_
