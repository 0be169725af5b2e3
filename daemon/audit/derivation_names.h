// What the name of a derivation tells the rules: a CUDA release, a flavour, a library that a slice has once,
// a Python module. Rules of names, each with the names that it was read from in the tests; knows no graph.
#ifndef HYDRANT_DAEMON_AUDIT_DERIVATION_NAMES_H_
#define HYDRANT_DAEMON_AUDIT_DERIVATION_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "lib/matrix/cuda_version.h"

namespace hydrant {

// The release that a derivation is a part of: of the toolkit itself ("cudatoolkit-12.9.1",
// "cuda-merged-12.9"), of the compiler and the runtime that each release has once ("cuda_cudart-12.9.79",
// "cuda_nvcc-…", "cuda_nvrtc-…"), and of whatever a set of nixpkgs names for itself
// ("cuda12.9-cudnn-9.7.1"). Other libraries carry their own version, which tells none.
std::optional<CudaVersion> CudaReleaseOf(std::string_view name);

enum class CudaFlavour { kRedist, kRunfile };
std::string_view CudaFlavourName(CudaFlavour flavour);  // "redist", "runfile"
// The flavour that a downloaded file belongs to: an archive of one of the toolkit's components
// ("cuda_cudart-linux-x86_64-12.9.79-archive.tar.xz") or the whole installer
// ("cuda_11.8.0_520.61.05_linux.run"). Libraries that are always an archive of their own (cudnn, cutensor,
// cusparselt) tell none.
std::optional<CudaFlavour> CudaFlavourOf(std::string_view file_name);

// "cudnn", "nccl", "magma" or "cudatoolkit" when that is what the derivation is, under the names of any era;
// else "". What joins or wraps a toolkit ("cudatoolkit-11.2.2-merged") is not it.
std::string_view NamedLibraryOf(std::string_view name);

// "python3.12" and "jaxlib" of "python3.12-jaxlib-0.4.1". Modules are told apart as pip does it (no case, and
// '-', '_' and '.' are one), packages that hold the same module under two names are one (pytorch and torch).
struct PythonModule {
  std::string_view interpreter;  // a view into the name
  std::string module;
};
std::optional<PythonModule> PythonModuleOf(std::string_view name);
// "python3-3.12.4-env": an environment, whose inputs are what it holds.
bool IsPythonEnvironment(std::string_view name);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_DERIVATION_NAMES_H_
