// What GPUs this machine has. Knows nothing of NVML or of any other way to find out.
#ifndef HYDRANT_LIB_GPU_GPU_PROBE_H_
#define HYDRANT_LIB_GPU_GPU_PROBE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace hydrant {

struct GpuFacts {
  std::string uuid;          // stable on this machine
  std::string name;          // for a simulated one it begins with "simulated"
  std::string architecture;  // compute capability, "8.6"
  int64_t memory_bytes = 0;
  std::string driver;        // "550.54.14"
  bool simulated = false;
};

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  // All GPUs that can be used now; none is no error. Unavailable when a driver is there that does not answer. One thread.
  virtual absl::StatusOr<std::vector<GpuFacts>> Probe() = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_GPU_GPU_PROBE_H_
