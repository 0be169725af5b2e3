// The newest host compilers that each nvcc takes. Data with its source.
#ifndef HYDRANT_LIB_MATRIX_HOST_COMPILERS_H_
#define HYDRANT_LIB_MATRIX_HOST_COMPILERS_H_

#include <optional>
#include <span>
#include <string_view>

#include "lib/matrix/cuda_version.h"

namespace hydrant {

struct HostCompilers {
  CudaVersion cuda;
  int gcc = 0, clang = 0;  // newest major that nvcc accepts
  std::string_view source;
};

std::span<const HostCompilers> AllHostCompilers();
// nullopt: a release that the table does not know.
std::optional<HostCompilers> HostCompilersOf(CudaVersion cuda);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_HOST_COMPILERS_H_
