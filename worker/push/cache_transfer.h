// PathTransfer by the Nix binary cache protocol over HTTP.
#ifndef HYDRANT_WORKER_PUSH_CACHE_TRANSFER_H_
#define HYDRANT_WORKER_PUSH_CACHE_TRANSFER_H_

#include <string>
#include <utility>

#include "worker/push/cache_fetch.h"
#include "worker/push/cache_push.h"
#include "worker/push/path_transfer.h"

namespace hydrant::worker {

// Any thread; each call with a session of its own.
class CacheTransfer final : public PathTransfer {
 public:
  struct Options {
    std::string spool;  // folder for compressed archives; must exist
    RetryPolicy upload;
    RetryPolicy download{.give_up_after = absl::Minutes(2)};
    HttpClient::Options http;
  };
  explicit CacheTransfer(Options options) : options_(std::move(options)), http_(options_.http) {}

  absl::Status Fetch(StoreSession& session, const CacheAccess& access, const std::vector<std::string>& paths,
                     Cancellation& cancellation) override {
    return FetchClosure(http_, session, access, options_.download, paths, cancellation);
  }
  absl::StatusOr<PushResult> Push(StoreSession& session, const CacheAccess& access,
                                  const std::vector<std::string>& paths,
                                  Cancellation& cancellation) override {
    return CachePush(http_, session, access, options_.upload, options_.spool, cancellation).Push(paths);
  }

 private:
  const Options options_;
  HttpClient http_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_CACHE_TRANSFER_H_
