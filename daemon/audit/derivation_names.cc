#include "daemon/audit/derivation_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "daemon/graph/package_name.h"

namespace hydrant {
namespace {

constexpr std::string_view kDigits = "0123456789", kVersion = "0123456789.";

// What stands before the first character that is none of `allowed`.
std::string_view Head(std::string_view text, std::string_view allowed) {
  return text.substr(0, text.find_first_not_of(allowed));
}

// The release at the beginning of a version: 12.9 of "12.9.79", "12.9", "9.2-cudnn-7.2.1".
std::optional<CudaVersion> ReleaseAtHead(std::string_view text) {
  const std::string_view version = Head(text, kVersion);
  const size_t point = version.find('.');
  if (point == version.npos) return std::nullopt;
  return ParseCudaVersion(version.substr(0, point + 1 + Head(version.substr(point + 1), kDigits).size()));
}

// Of "cuda12.9-cudnn-9.7.1" the release and "cudnn-9.7.1"; without such a head the name as it is.
std::pair<std::optional<CudaVersion>, std::string_view> SplitSet(std::string_view name) {
  constexpr std::string_view kCuda = "cuda";
  if (!name.starts_with(kCuda)) return {std::nullopt, name};
  const std::string_view version = Head(name.substr(kCuda.size()), kVersion);
  const std::string_view rest = name.substr(kCuda.size() + version.size());
  const std::optional<CudaVersion> release = ParseCudaVersion(version);
  if (!release || !rest.starts_with('-')) return {std::nullopt, name};
  return {release, rest.substr(1)};
}

// Those parts of a release of which each release has one with the release's own number. Source: NVIDIA's
// redistrib_X.Y.Z.json; cuda_compat has the driver's.
constexpr std::array<std::string_view, 6> kNumberedParts = {"cudatoolkit", "cuda-merged", "cuda_cudart",
                                                            "cuda_nvcc",   "cuda_nvrtc",  "cuda_crt"};

// Parts of the toolkit beside cuda_*, which come out of the runfile installer too.
constexpr std::array<std::string_view, 13> kToolkitLibraries = {
    "libcublas",   "libcufft",     "libcufile", "libcurand",        "libcusolver", "libcusparse",  "libnpp",
    "libnvfatbin", "libnvjitlink", "libnvjpeg", "libnvptxcompiler", "libnvvm",     "fabricmanager"};

bool AllOf(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == text.npos;
}

}  // namespace

std::optional<CudaVersion> CudaReleaseOf(std::string_view name) {
  const auto [of_set, rest] = SplitSet(name);
  if (of_set) return of_set;
  const PackageName split = SplitPackageName(rest);
  if (std::find(kNumberedParts.begin(), kNumberedParts.end(), split.package) == kNumberedParts.end()) {
    return std::nullopt;
  }
  return ReleaseAtHead(split.version);
}

std::string_view CudaFlavourName(CudaFlavour flavour) {
  return flavour == CudaFlavour::kRedist ? "redist" : "runfile";
}

std::optional<CudaFlavour> CudaFlavourOf(std::string_view file_name) {
  constexpr std::string_view kInstaller = "cuda_", kArchive = "-archive";
  if (file_name.starts_with(kInstaller) && file_name.find("_linux") != file_name.npos &&
      AllOf(file_name.substr(kInstaller.size(), 1), kDigits)) {
    return CudaFlavour::kRunfile;
  }
  const size_t platform = file_name.find("-linux-");
  if (platform == file_name.npos || file_name.find(kArchive) == file_name.npos) return std::nullopt;
  const std::string_view part = file_name.substr(0, platform);
  if (part == "cuda_compat") return std::nullopt;
  const bool toolkit =
      part.starts_with("cuda_") ||
      std::find(kToolkitLibraries.begin(), kToolkitLibraries.end(), part) != kToolkitLibraries.end();
  return toolkit ? std::optional(CudaFlavour::kRedist) : std::nullopt;
}

std::string_view NamedLibraryOf(std::string_view name) {
  const PackageName split = SplitPackageName(SplitSet(name).second);
  if (split.package == "cudatoolkit") {
    if (AllOf(split.version, kVersion)) return "cudatoolkit";
    // cudatoolkit-9.2-cudnn-7.2.1 and cudatoolkit-9.1-nccl-2.1.4 are what they were called in 2018.
    const std::string_view inner =
        split.version.substr(std::min(split.version.find('-') + 1, split.version.size()));
    const PackageName part = SplitPackageName(inner);
    const bool library = part.package == "cudnn" || part.package == "nccl";
    return library && AllOf(part.version, kVersion) ? part.package : "";
  }
  if (split.package == "cuda-merged") return "cudatoolkit";
  if (Head(split.version, kVersion).empty()) return "";
  for (const std::string_view library : {"cudnn", "nccl", "magma"}) {
    // magma-cuda-static, nccl-tests and the like are others.
    if (split.package == library) return library;
  }
  return "";
}

std::optional<PythonModule> PythonModuleOf(std::string_view name) {
  const size_t dash = name.find('-');
  const std::string_view interpreter = name.substr(0, dash);
  const bool python = interpreter.starts_with("python") || interpreter.starts_with("pypy");
  if (dash == name.npos || !python || interpreter.find('.') == interpreter.npos) return std::nullopt;
  const std::string_view package = SplitPackageName(name.substr(dash + 1)).package;
  if (package.empty()) return std::nullopt;
  PythonModule found{interpreter, ""};
  for (const char c : package) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && found.module.ends_with('-')) continue;
    found.module += separator ? '-' : absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  static constexpr std::pair<std::string_view, std::string_view> kSame[] = {
      {"pytorch", "torch"}, {"tensorflow-gpu", "tensorflow"}, {"tensorflow-cpu", "tensorflow"}};
  for (const auto& [alias, module] : kSame) {
    if (found.module == alias) found.module = module;
  }
  return found;
}

bool IsPythonEnvironment(std::string_view name) {
  return (name.starts_with("python") || name.starts_with("pypy")) && name.ends_with("-env");
}

}  // namespace hydrant
