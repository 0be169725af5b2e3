#include "lib/matrix/cuda_version.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

// 12.7 was never released.
constexpr CudaVersion kVersions[] = {
    {11, 4}, {11, 5}, {11, 6}, {11, 7}, {11, 8},                                      //
    {12, 0}, {12, 1}, {12, 2}, {12, 3}, {12, 4}, {12, 5}, {12, 6}, {12, 8}, {12, 9},  //
    {13, 0}, {13, 1}, {13, 2}, {13, 3}, {13, 4},
};

}  // namespace

std::string CudaVersion::Text() const { return absl::StrCat(major, ".", minor); }

std::optional<CudaVersion> ParseCudaVersion(std::string_view text) {
  const size_t point = text.find('.');
  if (point == text.npos || text.find_first_not_of("0123456789.") != text.npos) return std::nullopt;
  CudaVersion version;
  const char* middle = text.data() + point;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), middle, version.major);
  const auto minor = std::from_chars(middle + 1, end, version.minor);
  const bool whole =
      major.ec == std::errc() && major.ptr == middle && minor.ec == std::errc() && minor.ptr == end;
  return whole ? std::optional(version) : std::nullopt;
}

std::span<const CudaVersion> CudaVersions() { return kVersions; }

bool IsKnownCuda(CudaVersion version) {
  return std::find(std::begin(kVersions), std::end(kVersions), version) != std::end(kVersions);
}

}  // namespace hydrant
