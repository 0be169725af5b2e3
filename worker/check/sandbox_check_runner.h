// CheckRunner by a Sandbox: the worker's store read-only, a shell, and the leased GPU.
#ifndef HYDRANT_WORKER_CHECK_SANDBOX_CHECK_RUNNER_H_
#define HYDRANT_WORKER_CHECK_SANDBOX_CHECK_RUNNER_H_

#include <string>
#include <vector>

#include "worker/build/worker_store.h"
#include "worker/check/check_runner.h"
#include "worker/check/gpu_access.h"
#include "worker/check/sandbox.h"

namespace hydrant::worker {

// Any thread.
class SandboxCheckRunner final : public CheckRunner {
 public:
  struct Options {
    std::string store_folder;                 // the files behind /nix/store
    std::vector<std::string> sandbox_paths;   // "/in=/out", as a build sees them
    std::string scratch;                      // folder for what a check writes; must exist
    absl::Duration grace = absl::Seconds(5);  // from SIGTERM to SIGKILL
    bool user_namespace = false;              // also with root rights
  };
  SandboxCheckRunner(Options options, GpuAccess& gpus) : options_(std::move(options)), gpus_(gpus) {}

  CheckOutcome Run(const CheckRequest& request, const LogCallback& log, Cancellation& cancellation) override;

 private:
  absl::StatusOr<SandboxSpec> Spec(const CheckRequest& request, const std::string& folder) const;

  const Options options_;
  GpuAccess& gpus_;
};

// What the command's environment is; all of it.
std::map<std::string, std::string> CheckEnvironment(const CheckRequest& request);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_CHECK_SANDBOX_CHECK_RUNNER_H_
