// What cannot be, known before any work: which compute capabilities a CUDA release supports. Data with its
// source, and the refusal that names the rule and the way out. Knows nothing of packages.
#ifndef HYDRANT_LIB_MATRIX_RULES_H_
#define HYDRANT_LIB_MATRIX_RULES_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/matrix/matrix.h"

namespace hydrant {

// A release of CUDA: 12.9 is {12, 9}.
struct CudaVersion {
  int major = 0, minor = 0;
  friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
  std::string Text() const;  // "12.9"
};

// nullopt unless it is digits, a point and digits.
std::optional<CudaVersion> ParseCudaVersion(std::string_view text);

struct Capability {
  std::string_view name;            // "9.0a"
  CudaVersion first;                // supported from this CUDA on …
  std::optional<CudaVersion> last;  // … up to this one, inclusive
  bool jetson = false;              // aarch64-linux only
  std::string_view source;
};

// In ascending order.
std::span<const Capability> Capabilities();
// The releases that the rules know, in ascending order.
std::span<const CudaVersion> CudaVersions();

// Why the cell cannot be, and what could; nullopt when it can, or when its CUDA is not a release that the
// rules know.
std::optional<std::string> CapabilityRefusal(const std::map<std::string, AxisValue>& axes);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_RULES_H_
