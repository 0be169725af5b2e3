// One attempt's connection to the worker's store. What it adds as a root stays until it ends. One thread, but
// for Close().
#ifndef HYDRANT_WORKER_BUILD_STORE_SESSION_H_
#define HYDRANT_WORKER_BUILD_STORE_SESSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lib/nix/daemon_client.h"
#include "worker/build/worker_store.h"

namespace hydrant::worker {

class StoreSession {
 public:
  StoreSession(const WorkerStore& store, std::unique_ptr<nix::DaemonClient> client)
      : store_(store), client_(std::move(client)) {}

  nix::DaemonClient& client() { return *client_; }
  std::string RealPath(std::string_view store_path) const { return store_.RealPath(store_path); }
  // From another thread: whatever runs fails with Cancelled.
  void Close() {
    if (client_) client_->Close();
  }

 private:
  const WorkerStore& store_;
  std::unique_ptr<nix::DaemonClient> client_;
};

inline absl::StatusOr<std::unique_ptr<StoreSession>> OpenSession(const WorkerStore& store,
                                                                 const AttemptLimits& limits) {
  auto client = store.Connect(limits);
  if (!client.ok()) return client.status();
  return std::make_unique<StoreSession>(store, *std::move(client));
}

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_STORE_SESSION_H_
