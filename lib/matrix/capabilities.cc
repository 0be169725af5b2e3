#include "lib/matrix/capabilities.h"

#include <algorithm>
#include <iterator>

namespace hydrant {
namespace {

// The table's prose calls the maximum exclusive; its code and what nvcc does make it inclusive.
constexpr std::string_view kDb = "nixpkgs _cuda/db/bootstrap/cuda.nix";
constexpr std::string_view kXavier = "nixpkgs _cuda/db/bootstrap/cuda.nix; with cuda_compat, else 11.8";
constexpr std::string_view kThor =
    "nixpkgs _cuda/db/bootstrap/cuda.nix; renamed from 10.1 to 11.0 in CUDA 13.0";

constexpr std::nullopt_t kOpen = std::nullopt;
constexpr CudaVersion kLastKepler = {11, 8};
constexpr CudaVersion kLastVolta = {12, 9};
// A default ends with the release before TensorRT drops the architecture.
constexpr CudaVersion kMaxwellDefault = {11, 0};
constexpr CudaVersion kPascalDefault = {12, 3};
constexpr CudaVersion kVoltaDefault = {12, 5};

constexpr Capability kCapabilities[] = {
    {"3.5", {10, 0}, kLastKepler, kMaxwellDefault, false, kDb},
    {"3.7", {10, 0}, kLastKepler, kMaxwellDefault, false, kDb},
    {"5.0", {10, 0}, kLastVolta, kMaxwellDefault, false, kDb},
    {"5.2", {10, 0}, kLastVolta, kMaxwellDefault, false, kDb},
    {"6.0", {10, 0}, kLastVolta, kPascalDefault, false, kDb},
    {"6.1", {10, 0}, kLastVolta, kPascalDefault, false, kDb},
    {"7.0", {10, 0}, kLastVolta, kVoltaDefault, false, kDb},
    {"7.2", {10, 0}, CudaVersion{12, 2}, kOpen, true, kXavier},
    {"7.5", {10, 0}, kOpen, kOpen, false, kDb},
    {"8.0", {11, 2}, kOpen, kOpen, false, kDb},
    {"8.6", {11, 2}, kOpen, kOpen, false, kDb},
    {"8.7", {11, 4}, kOpen, kOpen, true, kDb},
    {"8.9", {11, 8}, kOpen, kOpen, false, kDb},
    {"9.0", {11, 8}, kOpen, kOpen, false, kDb},
    {"9.0a", {12, 0}, kOpen, kOpen, false, kDb},
    {"10.0", {12, 7}, kOpen, kOpen, false, kDb},
    {"10.0a", {12, 7}, kOpen, kOpen, false, kDb},
    {"10.0f", {12, 9}, kOpen, kOpen, false, kDb},
    {"10.1", {12, 7}, kLastVolta, kOpen, true, kThor},
    {"10.1a", {12, 7}, kLastVolta, kOpen, true, kThor},
    {"10.1f", {12, 9}, kLastVolta, kOpen, true, kThor},
    {"10.3", {12, 9}, kOpen, kOpen, false, kDb},
    {"10.3a", {12, 9}, kOpen, kOpen, false, kDb},
    {"10.3f", {12, 9}, kOpen, kOpen, false, kDb},
    {"11.0", {13, 0}, kOpen, kOpen, true, kThor},
    {"11.0a", {13, 0}, kOpen, kOpen, true, kThor},
    {"11.0f", {13, 0}, kOpen, kOpen, true, kThor},
    {"12.0", {12, 8}, kOpen, kOpen, false, kDb},
    {"12.0a", {12, 8}, kOpen, kOpen, false, kDb},
    {"12.0f", {12, 9}, kOpen, kOpen, false, kDb},
    {"12.1", {12, 9}, kOpen, kOpen, false, kDb},
    {"12.1a", {12, 9}, kOpen, kOpen, false, kDb},
    {"12.1f", {12, 9}, kOpen, kOpen, false, kDb},
};

bool IsDefault(CudaVersion cuda, const Capability& capability) {
  return Supports(cuda, capability) && !capability.jetson && !capability.IsArchitectureSpecific() &&
         !capability.IsFamily() && (!capability.default_till || cuda <= *capability.default_till);
}

}  // namespace

std::span<const Capability> Capabilities() { return kCapabilities; }

const Capability* FindCapability(std::string_view name) {
  const auto* found = std::find_if(std::begin(kCapabilities), std::end(kCapabilities),
                                   [&](const Capability& capability) { return capability.name == name; });
  return found == std::end(kCapabilities) ? nullptr : found;
}

bool Supports(CudaVersion cuda, const Capability& capability) {
  return capability.first <= cuda && (!capability.last || cuda <= *capability.last);
}

std::vector<std::string_view> DefaultCapabilities(CudaVersion cuda) {
  std::vector<std::string_view> names;
  if (!IsKnownCuda(cuda)) return names;
  for (const Capability& capability : kCapabilities) {
    if (IsDefault(cuda, capability)) names.push_back(capability.name);
  }
  return names;
}

}  // namespace hydrant
