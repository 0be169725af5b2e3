// What of this machine a check must see to use one GPU and no other.
#ifndef HYDRANT_WORKER_CHECK_GPU_ACCESS_H_
#define HYDRANT_WORKER_CHECK_GPU_ACCESS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lib/gpu/gpu_probe.h"
#include "worker/check/sandbox.h"

namespace hydrant::worker {

class GpuAccess {
 public:
  virtual ~GpuAccess() = default;
  // Device nodes and driver folders. Unimplemented for a GPU that it cannot give.
  virtual absl::StatusOr<std::vector<SandboxMount>> MountsFor(const GpuFacts& gpu) = 0;
};

// A simulated GPU has neither device nor driver.
class SimulatedGpuAccess final : public GpuAccess {
 public:
  absl::StatusOr<std::vector<SandboxMount>> MountsFor(const GpuFacts& gpu) override {
    if (gpu.simulated) return std::vector<SandboxMount>{};
    return absl::UnimplementedError(
        absl::StrCat("GPU ", gpu.uuid, " is not simulated, and no driver gives access to it"));
  }
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_CHECK_GPU_ACCESS_H_
