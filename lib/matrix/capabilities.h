// Which compute capabilities each CUDA release supports, and which of them nixpkgs builds when none is asked
// for. Data with its source; knows nothing of cells.
#ifndef HYDRANT_LIB_MATRIX_CAPABILITIES_H_
#define HYDRANT_LIB_MATRIX_CAPABILITIES_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/matrix/cuda_version.h"

namespace hydrant {

struct Capability {
  std::string_view name;                    // "9.0a"
  CudaVersion first;                        // supported from this CUDA on …
  std::optional<CudaVersion> last;          // … up to this one, inclusive
  std::optional<CudaVersion> default_till;  // in the default list up to this CUDA, inclusive; nullopt: no end
  bool jetson = false;                      // aarch64-linux only
  std::string_view source;

  // "9.0a" is for one architecture and never forward compatible; "12.0f" for a family.
  bool IsArchitectureSpecific() const { return name.back() == 'a'; }
  bool IsFamily() const { return name.back() == 'f'; }
};

// In ascending order.
std::span<const Capability> Capabilities();
const Capability* FindCapability(std::string_view name);  // nullptr: no CUDA that the table knows has it
bool Supports(CudaVersion cuda, const Capability& capability);

// What nixpkgs builds for this CUDA when no list is given, ascending: supported, no Jetson, no suffix, not
// past its last default. Empty for a release that the rules do not know.
std::vector<std::string_view> DefaultCapabilities(CudaVersion cuda);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_CAPABILITIES_H_
