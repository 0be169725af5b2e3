// One archive on its way here: downloaded and decoded in a thread of its own, ahead of its reader by a
// bounded number of bytes. The reader sees the end only when hash and size are what the narinfo says.
#ifndef HYDRANT_WORKER_PUSH_NAR_DOWNLOAD_H_
#define HYDRANT_WORKER_PUSH_NAR_DOWNLOAD_H_

#include <thread>

#include "worker/push/byte_pipe.h"
#include "worker/push/narinfo_lookup.h"

namespace hydrant::worker {

class NarDownload {
 public:
  // Begins. All arguments must outlive it.
  NarDownload(HttpClient& http, const LocatedPath& path, const RetryPolicy& policy,
              Cancellation& cancellation);
  // Waits for its thread, which ends soon when nobody reads any more.
  ~NarDownload();

  Source& source() { return pipe_; }
  // Why it failed, once it has; OK while it runs.
  absl::Status status() const;

 private:
  void Run();
  absl::Status Download();

  HttpClient& http_;
  const LocatedPath& path_;
  const RetryPolicy policy_;
  Cancellation& cancellation_;
  BytePipe pipe_;
  mutable Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_NAR_DOWNLOAD_H_
