// The fetching half of CacheTransfer: a closure's missing paths from the caches into the store, references
// first.
#ifndef HYDRANT_WORKER_PUSH_CACHE_FETCH_H_
#define HYDRANT_WORKER_PUSH_CACHE_FETCH_H_

#include <string>
#include <vector>

#include "worker/build/store_session.h"
#include "worker/push/narinfo_lookup.h"

namespace hydrant::worker {

// As PathTransfer::Fetch.
absl::Status FetchClosure(HttpClient& http, StoreSession& session, const CacheAccess& access,
                          const RetryPolicy& policy, const std::vector<std::string>& paths,
                          Cancellation& cancellation);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_CACHE_FETCH_H_
