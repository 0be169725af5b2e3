#include "lib/matrix/drivers.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hydrant {
namespace {

constexpr std::string_view kMinorCompatibility =
    "docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html";
constexpr DriverMinimum kMinima[] = {
    {11, {450, 80, 2}, kMinorCompatibility},
    {12, {525, 0, 0}, kMinorCompatibility},
    {13, {580, 0, 0}, kMinorCompatibility},
};

constexpr std::string_view kNotes = "CUDA release notes, toolkit driver versions";
constexpr std::string_view kInstaller = "name of NVIDIA's installer";
constexpr std::string_view kManifest = "NVIDIA's redistributable manifest";
constexpr ToolkitDriver kToolkits[] = {
    {{11, 8}, {520, 61, 5}, true, kInstaller}, {{12, 0}, {525, 60, 13}, true, kNotes},
    {{12, 1}, {530, 30, 2}, true, kNotes},     {{12, 2}, {535, 54, 3}, true, kNotes},
    {{12, 3}, {545, 23, 6}, true, kNotes},     {{12, 4}, {550, 54, 14}, true, kNotes},
    {{12, 5}, {555, 42, 2}, true, kInstaller}, {{12, 6}, {560, 28, 3}, true, kNotes},
    {{12, 8}, {570, 26, 0}, true, kNotes},     {{12, 9}, {575, 51, 3}, true, kInstaller},
    {{13, 0}, {580, 65, 6}, true, kManifest},  {{13, 1}, {590, 0, 0}, false, kNotes},
};

}  // namespace

// NVIDIA writes the third number with two digits.
std::string DriverVersion::Text() const {
  if (minor == 0 && patch == 0) return absl::StrCat(branch);
  return patch == 0 ? absl::StrCat(branch, ".", minor) : absl::StrFormat("%d.%d.%02d", branch, minor, patch);
}

std::optional<DriverVersion> ParseDriverVersion(std::string_view text) {
  DriverVersion version;
  int* const fields[] = {&version.branch, &version.minor, &version.patch};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (size_t i = 0; i < std::size(fields); ++i) {
    if (at == end || *at < '0' || *at > '9') return std::nullopt;
    const auto read = std::from_chars(at, end, *fields[i]);
    if (read.ec != std::errc()) return std::nullopt;
    if (read.ptr == end) return version;
    if (*read.ptr != '.') return std::nullopt;
    at = read.ptr + 1;
  }
  return std::nullopt;
}

std::span<const DriverMinimum> DriverMinima() { return kMinima; }

std::optional<DriverVersion> LeastDriver(CudaVersion cuda) {
  const auto* row = std::find_if(std::begin(kMinima), std::end(kMinima),
                                 [&](const DriverMinimum& each) { return each.cuda_major == cuda.major; });
  return row == std::end(kMinima) ? std::nullopt : std::optional(row->least);
}

std::span<const ToolkitDriver> ToolkitDrivers() { return kToolkits; }

std::optional<DriverVersion> PtxDriver(CudaVersion cuda) {
  if (cuda < std::begin(kToolkits)->cuda) return std::nullopt;
  const auto* row = std::find_if(std::begin(kToolkits), std::end(kToolkits),
                                 [&](const ToolkitDriver& each) { return each.cuda >= cuda; });
  return row == std::end(kToolkits) ? std::nullopt : std::optional(row->driver);
}

}  // namespace hydrant
