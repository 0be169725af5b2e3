// The pushing half of CacheTransfer: store paths into the farm's cache, references first.
#ifndef HYDRANT_WORKER_PUSH_CACHE_PUSH_H_
#define HYDRANT_WORKER_PUSH_CACHE_PUSH_H_

#include <set>
#include <string>
#include <vector>

#include "lib/nix/daemon_client.h"
#include "worker/push/path_transfer.h"

namespace hydrant::worker {

// One push of one attempt.
class CachePush {
 public:
  CachePush(HttpClient& http, StoreSession& session, const CacheAccess& access, const RetryPolicy& policy,
            const std::string& spool, Cancellation& cancellation)
      : http_(http),
        session_(session),
        access_(access),
        policy_(policy),
        spool_(spool),
        cancellation_(cancellation) {}

  // As PathTransfer::Push.
  absl::StatusOr<PushResult> Push(const std::vector<std::string>& paths);

 private:
  absl::Status PushPath(const std::string& path, const std::set<std::string>& wanted);
  absl::Status Upload(const nix::PathInfo& info, const std::set<std::string>& wanted);
  absl::Status PushAbsentReferences(const nix::PathInfo& info, const std::set<std::string>& wanted,
                                    bool& any);
  absl::StatusOr<bool> IsThere(const std::string& path);
  absl::StatusOr<HttpReply> PutText(const std::string& url, const std::string& text);
  std::vector<std::string> Headers(const std::string& content_type) const;

  HttpClient& http_;
  StoreSession& session_;
  const CacheAccess& access_;
  const RetryPolicy& policy_;
  const std::string& spool_;
  Cancellation& cancellation_;
  std::set<std::string> visited_;
  PushResult result_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_CACHE_PUSH_H_
