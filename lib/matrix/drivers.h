// Which NVIDIA driver a CUDA release needs: the least that runs its programs, and the one that its PTX needs
// to be compiled on the machine. Data with its source; knows nothing of machines.
#ifndef HYDRANT_LIB_MATRIX_DRIVERS_H_
#define HYDRANT_LIB_MATRIX_DRIVERS_H_

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/matrix/cuda_version.h"

namespace hydrant {

// 525.60.13; what a version leaves out is 0.
struct DriverVersion {
  int branch = 0, minor = 0, patch = 0;
  friend auto operator<=>(const DriverVersion&, const DriverVersion&) = default;
  std::string Text() const;  // "525.60.13", "570.26", "580"
};

// One to three numbers with points between them ("580.65.06", "580"); nullopt otherwise.
std::optional<DriverVersion> ParseDriverVersion(std::string_view text);

// Programs of a CUDA major run on this driver and any newer one, as long as they bring machine code for the
// device (minor-version compatibility).
struct DriverMinimum {
  int cuda_major = 0;
  DriverVersion least;
  std::string_view source;
};
std::span<const DriverMinimum> DriverMinima();
std::optional<DriverVersion> LeastDriver(CudaVersion cuda);  // nullopt: a major that the table does not know

// The driver that comes with a toolkit's first release: its whole feature set needs it, and so does the
// compilation of PTX that this toolkit wrote.
struct ToolkitDriver {
  CudaVersion cuda;
  DriverVersion driver;
  bool exact = true;  // false: the branch is known, the rest of the number is not
  std::string_view source;
};
std::span<const ToolkitDriver> ToolkitDrivers();
// For a release between two rows that of the newer one, which is enough; nullopt beyond the table's ends.
std::optional<DriverVersion> PtxDriver(CudaVersion cuda);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_DRIVERS_H_
