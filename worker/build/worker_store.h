// The worker's Nix store: where it is, how to reach its daemon, and which settings a build in it has. Knows
// nothing of attempts. Any thread.
#ifndef HYDRANT_WORKER_BUILD_WORKER_STORE_H_
#define HYDRANT_WORKER_BUILD_WORKER_STORE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/nix/daemon_client.h"
#include "worker/build/limits.h"

namespace hydrant::worker {

class WorkerStore {
 public:
  struct Options {
    std::string store = "daemon";            // "daemon": the machine's own, or a folder whose store it is
    std::vector<std::string> sandbox_paths;  // "/in=/out"
    std::vector<std::string> features;       // what a build may require
    std::vector<std::string> systems;        // what is built for
    int build_cores = 0;                     // NIX_BUILD_CORES; 0: all
    std::string scratch;                     // folder for the daemon's own caches; must exist
  };
  explicit WorkerStore(Options options) : options_(std::move(options)) {}

  // A connection of its own: for a folder, or without a daemon's socket, a daemon process that ends with it.
  // It must be opened in the thread that uses it. Unavailable when there is none to reach.
  absl::StatusOr<std::unique_ptr<nix::DaemonClient>> Connect(const AttemptLimits& limits = {}) const;

  // Where a store path's files really are.
  std::string RealPath(std::string_view store_path) const;
  bool is_folder() const { return options_.store != "daemon"; }
  const Options& options() const { return options_; }

  // Unavailable when it cannot be reached; PermissionDenied when it does not trust us, so that it refuses
  // both our inputs and input-addressed derivations. Else the version of its Nix.
  absl::StatusOr<std::string> CheckTrust() const;

 private:
  Options options_;
};

// "/bin/sh=" with the first static busybox of this machine; empty when there is none.
std::string DefaultSandboxShell();

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_WORKER_STORE_H_
