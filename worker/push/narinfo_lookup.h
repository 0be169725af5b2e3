// Finds where missing store paths can be had: asks the caches for narinfos and believes only signed ones.
#ifndef HYDRANT_WORKER_PUSH_NARINFO_LOOKUP_H_
#define HYDRANT_WORKER_PUSH_NARINFO_LOOKUP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/nix/narinfo.h"
#include "worker/push/cache_access.h"

namespace hydrant::worker {

struct LocatedPath {
  nix::NarInfo info;
  HttpRequest nar;  // where its archive is
};

class NarInfoLookup {
 public:
  NarInfoLookup(HttpClient& http, const CacheAccess& access, const RetryPolicy& policy)
      : http_(http), access_(access), policy_(policy) {}

  // One path: staged first, then each substituter. NotFound: all answered that they have not got it. Any
  // thread.
  absl::StatusOr<LocatedPath> Locate(const std::string& path, Cancellation& cancellation) const;

  // Several paths, four at once, in the order given. The first error.
  absl::StatusOr<std::vector<LocatedPath>> LocateAll(const std::vector<std::string>& paths,
                                                     Cancellation& cancellation) const;

 private:
  absl::StatusOr<LocatedPath> Ask(const CacheKeys& cache, bool staged, const nix::StorePath& path,
                                  Cancellation& cancellation) const;

  HttpClient& http_;
  const CacheAccess& access_;
  const RetryPolicy policy_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_NARINFO_LOOKUP_H_
