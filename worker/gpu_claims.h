// Who uses which GPU of this machine now: one GPU runs one attempt, also while an attempt that lost its lease
// still ends.
#ifndef HYDRANT_WORKER_GPU_CLAIMS_H_
#define HYDRANT_WORKER_GPU_CLAIMS_H_

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/mutex.h"
#include "lib/gpu/gpu_probe.h"
#include "worker/build/cancellation.h"

namespace hydrant::worker {

// Any thread.
class GpuClaims {
 public:
  explicit GpuClaims(std::vector<GpuFacts> gpus) : gpus_(std::move(gpus)) {}

  class Claim {
   public:
    Claim(GpuClaims& claims, GpuFacts gpu) : claims_(&claims), gpu_(std::move(gpu)) {}
    Claim(Claim&& other) noexcept
        : claims_(std::exchange(other.claims_, nullptr)), gpu_(std::move(other.gpu_)) {}
    ~Claim() {
      if (claims_ != nullptr) claims_->Release(gpu_.uuid);
    }
    const GpuFacts& gpu() const { return gpu_; }

   private:
    GpuClaims* claims_;
    GpuFacts gpu_;
  };

  // Waits until nobody uses it. Nothing when there is no such GPU, or when it was cancelled.
  std::optional<Claim> Wait(const std::string& uuid, Cancellation& cancellation) {
    for (const GpuFacts& gpu : gpus_) {
      if (gpu.uuid != uuid) continue;
      for (;;) {
        {
          MutexLock lock(mu_);
          if (used_.insert(uuid).second) return Claim(*this, gpu);
        }
        if (!cancellation.WaitFor(absl::Milliseconds(100))) return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  void Release(const std::string& uuid) {
    MutexLock lock(mu_);
    used_.erase(uuid);
  }

  const std::vector<GpuFacts> gpus_;
  Mutex mu_;
  std::set<std::string> used_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_GPU_CLAIMS_H_
