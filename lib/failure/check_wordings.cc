#include "lib/failure/wordings.h"

namespace hydrant {
namespace {

constexpr char kCuda[] = "CUDA runtime";
constexpr char kDriverApi[] = "CUDA driver API";
constexpr char kTorch[] = "PyTorch";
constexpr char kNvml[] = "NVML";
constexpr char kXla[] = "XLA";

constexpr Wording kCheck[] = {
    // The device first: what it breaks looks like anything else.
    {Cause::kDeviceLost, "Driver/library version mismatch", "NVML: driver updated, not rebooted"},
    {Cause::kDeviceLost, "GPU is lost", kNvml},
    {Cause::kDeviceLost, "has fallen off the bus", "NVIDIA kernel module"},
    {Cause::kDeviceLost, "Unable to determine the device handle", "nvidia-smi"},
    {Cause::kDeviceLost, "uncorrectable ECC error", kCuda},
    {Cause::kDeviceLost, "CUDA unknown error", kTorch},
    {Cause::kDeviceLost, "CUDA_ERROR_UNKNOWN", kDriverApi},
    {Cause::kDeviceLost, "cudaErrorUnknown", kCuda},
    {Cause::kDeviceLost, "busy or unavailable", kCuda},
    {Cause::kDeviceLost, "no CUDA-capable device is detected", kCuda},
    {Cause::kDeviceLost, "CUDA_ERROR_NO_DEVICE", kDriverApi},
    {Cause::kDeviceLost, "unsupported display driver / cuda driver combination", kCuda},
    {Cause::kDriverTooOld, "CUDA driver version is insufficient for CUDA runtime version", kCuda},
    {Cause::kDriverTooOld, "driver on your system is too old", kTorch},
    {Cause::kDriverTooOld, "forward compatibility was attempted on non supported HW", kCuda},
    {Cause::kNoKernelImage, "no kernel image is available", kCuda},
    {Cause::kNoKernelImage, "CUDA_ERROR_NO_BINARY_FOR_GPU", kDriverApi},
    {Cause::kNoKernelImage, "is not compatible with the current PyTorch installation", kTorch},
    {Cause::kPtxTooNew, "PTX was compiled with an unsupported toolchain", kCuda},
    {Cause::kPtxTooNew, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", kDriverApi},
    {Cause::kGpuOutOfMemory, "CUDA out of memory", kTorch},
    {Cause::kGpuOutOfMemory, "CUDA error: out of memory", kTorch},
    {Cause::kGpuOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", kDriverApi},
    {Cause::kGpuOutOfMemory, "cudaErrorMemoryAllocation", kCuda},
    {Cause::kGpuOutOfMemory, "RESOURCE_EXHAUSTED: Out of memory", kXla},
    {Cause::kLibraryMissing, "cannot open shared object file", "ld.so"},
    {Cause::kLibraryMissing, "undefined symbol: cu", "ld.so: stub and driver mixed"},
    {Cause::kLibraryMissing, "Could not load library libcu", "cuDNN"},
    {Cause::kLibraryMissing, "Could not load dynamic library 'libcu", "TensorFlow"},
    {Cause::kLibraryMissing, "Found no NVIDIA driver on your system", kTorch},
    {Cause::kCpuFallback, "Torch not compiled with CUDA enabled", kTorch},
    {Cause::kCpuFallback, "falling back to CPU", kXla},
    {Cause::kCpuFallback, "alling back to cpu", kXla},
    {Cause::kCpuFallback, "No CUDA runtime is found", "torch.utils.cpp_extension"},
    {Cause::kTimeout, "check timed out after", "hydrant-worker"},
};

}  // namespace

std::span<const Wording> CheckWordings() { return kCheck; }

}  // namespace hydrant
