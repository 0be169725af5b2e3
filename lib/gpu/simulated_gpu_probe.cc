#include "lib/gpu/simulated_gpu_probe.h"

#include "absl/strings/str_cat.h"

namespace hydrant {

SimulatedGpuProbe::SimulatedGpuProbe(std::vector<SimulatedGpu> declared) {
  for (const SimulatedGpu& gpu : declared) {
    gpus_.push_back({.uuid = absl::StrCat("simulated-", gpus_.size()),
                     .name = absl::StrCat("simulated GPU (sm_", gpu.architecture, ")"),
                     .architecture = gpu.architecture,
                     .memory_bytes = gpu.memory_bytes,
                     .driver = gpu.driver,
                     .simulated = true});
  }
}

absl::StatusOr<std::vector<GpuFacts>> SimulatedGpuProbe::Probe() { return gpus_; }

}  // namespace hydrant
