// GPUs that a configuration declares and no machine has. They say so in their names, and what is checked on them proves nothing
// about a real one.
#ifndef HYDRANT_LIB_GPU_SIMULATED_GPU_PROBE_H_
#define HYDRANT_LIB_GPU_SIMULATED_GPU_PROBE_H_

#include <vector>

#include "lib/gpu/gpu_probe.h"

namespace hydrant {

struct SimulatedGpu {
  std::string architecture;  // "8.6"
  int64_t memory_bytes = 0;
  std::string driver;
};

class SimulatedGpuProbe final : public GpuProbe {
 public:
  explicit SimulatedGpuProbe(std::vector<SimulatedGpu> declared);
  absl::StatusOr<std::vector<GpuFacts>> Probe() override;

 private:
  std::vector<GpuFacts> gpus_;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_GPU_SIMULATED_GPU_PROBE_H_
