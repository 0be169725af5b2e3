// Releases as two numbers: of CUDA, and of the libraries whose versions the rules compare. Pure.
#ifndef HYDRANT_LIB_MATRIX_CUDA_VERSION_H_
#define HYDRANT_LIB_MATRIX_CUDA_VERSION_H_

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hydrant {

// A release of CUDA: 12.9 is {12, 9}.
struct CudaVersion {
  int major = 0, minor = 0;
  friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
  std::string Text() const;  // "12.9"
};

// nullopt unless it is digits, a point and digits.
std::optional<CudaVersion> ParseCudaVersion(std::string_view text);

// The releases that the rules know, in ascending order: the sets of nixpkgs and of cuda-legacy.
std::span<const CudaVersion> CudaVersions();
bool IsKnownCuda(CudaVersion version);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_CUDA_VERSION_H_
