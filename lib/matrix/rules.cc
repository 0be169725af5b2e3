#include "lib/matrix/rules.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hydrant {
namespace {

// nixpkgs pkgs/development/cuda-modules/_cuda/db/bootstrap/cuda.nix. Its prose calls the maximum exclusive,
// its code and what nvcc does make it inclusive.
constexpr std::string_view kDb = "nixpkgs _cuda/db/bootstrap/cuda.nix";
constexpr std::string_view kXavier = "nixpkgs _cuda/db/bootstrap/cuda.nix; with cuda_compat, else 11.8";
constexpr std::string_view kThor =
    "nixpkgs _cuda/db/bootstrap/cuda.nix; renamed from 10.1 to 11.0 in CUDA 13.0";

constexpr CudaVersion kLastKepler = {11, 8};
constexpr CudaVersion kLastVolta = {12, 9};

constexpr Capability kCapabilities[] = {
    {"3.5", {10, 0}, kLastKepler, false, kDb},     {"3.7", {10, 0}, kLastKepler, false, kDb},
    {"5.0", {10, 0}, kLastVolta, false, kDb},      {"5.2", {10, 0}, kLastVolta, false, kDb},
    {"6.0", {10, 0}, kLastVolta, false, kDb},      {"6.1", {10, 0}, kLastVolta, false, kDb},
    {"7.0", {10, 0}, kLastVolta, false, kDb},      {"7.2", {10, 0}, CudaVersion{12, 2}, true, kXavier},
    {"7.5", {10, 0}, std::nullopt, false, kDb},    {"8.0", {11, 2}, std::nullopt, false, kDb},
    {"8.6", {11, 2}, std::nullopt, false, kDb},    {"8.7", {11, 4}, std::nullopt, true, kDb},
    {"8.9", {11, 8}, std::nullopt, false, kDb},    {"9.0", {11, 8}, std::nullopt, false, kDb},
    {"9.0a", {12, 0}, std::nullopt, false, kDb},   {"10.0", {12, 7}, std::nullopt, false, kDb},
    {"10.0a", {12, 7}, std::nullopt, false, kDb},  {"10.0f", {12, 9}, std::nullopt, false, kDb},
    {"10.1", {12, 7}, kLastVolta, true, kThor},    {"10.1a", {12, 7}, kLastVolta, true, kThor},
    {"10.1f", {12, 9}, kLastVolta, true, kThor},   {"10.3", {12, 9}, std::nullopt, false, kDb},
    {"10.3a", {12, 9}, std::nullopt, false, kDb},  {"10.3f", {12, 9}, std::nullopt, false, kDb},
    {"11.0", {13, 0}, std::nullopt, true, kThor},  {"11.0a", {13, 0}, std::nullopt, true, kThor},
    {"11.0f", {13, 0}, std::nullopt, true, kThor}, {"12.0", {12, 8}, std::nullopt, false, kDb},
    {"12.0a", {12, 8}, std::nullopt, false, kDb},  {"12.0f", {12, 9}, std::nullopt, false, kDb},
    {"12.1", {12, 9}, std::nullopt, false, kDb},   {"12.1a", {12, 9}, std::nullopt, false, kDb},
    {"12.1f", {12, 9}, std::nullopt, false, kDb},
};

// The sets of nixpkgs and of cuda-legacy; 12.7 was never released.
constexpr CudaVersion kVersions[] = {
    {11, 4}, {11, 5}, {11, 6}, {11, 7}, {11, 8},                                      //
    {12, 0}, {12, 1}, {12, 2}, {12, 3}, {12, 4}, {12, 5}, {12, 6}, {12, 8}, {12, 9},  //
    {13, 0}, {13, 1}, {13, 2}, {13, 3}, {13, 4},
};

constexpr std::string_view kJetsonSystem = "aarch64-linux";
// Jetson before Thor has libraries of its own (linux-aarch64), which serve no other device.
constexpr std::string_view kFirstThor = "10.1";

const Capability* FindCapability(std::string_view name) {
  const auto* found = std::find_if(std::begin(kCapabilities), std::end(kCapabilities),
                                   [&](const Capability& capability) { return capability.name == name; });
  return found == std::end(kCapabilities) ? nullptr : found;
}

bool Supports(CudaVersion cuda, const Capability& capability) {
  return capability.first <= cuda && (!capability.last || cuda <= *capability.last);
}

// "CUDA 12.6 supports 5.0 … 9.0a"
std::string SupportText(CudaVersion cuda) {
  std::string_view first, last;
  for (const Capability& capability : kCapabilities) {
    if (capability.jetson || !Supports(cuda, capability)) continue;
    if (first.empty()) first = capability.name;
    last = capability.name;
  }
  return absl::StrCat("CUDA ", cuda.Text(), " supports ", std::string(first), " … ", std::string(last));
}

std::optional<std::string> VersionRefusal(CudaVersion cuda, const std::string& word) {
  const Capability* capability = FindCapability(word);
  if (capability == nullptr) {
    return absl::StrCat(SupportText(cuda), "; ", word, " is not a capability of any CUDA up to ",
                        std::rbegin(kVersions)->Text());
  }
  if (cuda < capability->first) {
    const auto* first = std::find_if(std::begin(kVersions), std::end(kVersions),
                                     [&](CudaVersion version) { return version >= capability->first; });
    return absl::StrCat(SupportText(cuda), "; ", word, " needs CUDA ", first->Text(), " or newer");
  }
  if (!Supports(cuda, *capability)) {
    return absl::StrCat(SupportText(cuda), "; ", word, " needs CUDA ", capability->last->Text(), " or older");
  }
  return std::nullopt;
}

bool IsJetson(const std::string& word) { return FindCapability(word)->jetson; }

bool IsBeforeThor(const std::string& word) {
  return IsJetson(word) && FindCapability(word) < FindCapability(kFirstThor);
}

std::optional<std::string> JetsonRefusal(const std::vector<std::string>& words, std::string_view system) {
  const auto jetson = std::find_if(words.begin(), words.end(), IsJetson);
  if (jetson == words.end()) return std::nullopt;
  if (system != kJetsonSystem) {
    return absl::StrCat(*jetson, " is a Jetson's capability and needs system ", std::string(kJetsonSystem),
                        ", not ", std::string(system));
  }
  const auto old = std::find_if(words.begin(), words.end(), IsBeforeThor);
  const auto other = std::find_if_not(words.begin(), words.end(), IsBeforeThor);
  if (old == words.end() || other == words.end()) return std::nullopt;
  return absl::StrCat("Jetson capabilities below ", std::string(kFirstThor), " stand alone: list ", *old,
                      " and ", *other, " as two values of the axis, [\"", *old, "\"] and [\"", *other, "\"]");
}

std::optional<std::string> SuffixRefusal(const std::vector<std::string>& words,
                                         const AxisValue* forward_compat) {
  const auto ends_with = [&](const char* letters) {
    return std::find_if(words.begin(), words.end(), [&](const std::string& word) {
      return std::string_view(letters).find(word.back()) != std::string_view::npos;
    });
  };
  const auto family = ends_with("f"), baseline = ends_with("0123456789"), specific = ends_with("a");
  if (family != words.end() && baseline != words.end()) {
    // nvcc aborts at build; the evaluation does not see it (NixOS/nixpkgs#522144).
    return absl::StrCat("nvcc does not build the family ", *family, " together with the baseline ", *baseline,
                        ": list them as two values of the axis, [\"", *family, "\"] and [\"", *baseline,
                        "\"]");
  }
  if (specific != words.end() && forward_compat != nullptr && forward_compat->Joined() == "true") {
    return absl::StrCat(
        *specific, " is for one architecture and never forward compatible: it needs forward_compat = false");
  }
  return std::nullopt;
}

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

std::span<const Capability> Capabilities() { return kCapabilities; }

std::span<const CudaVersion> CudaVersions() { return kVersions; }

std::optional<std::string> CapabilityRefusal(const std::map<std::string, AxisValue>& axes) {
  const auto cuda_axis = axes.find("cuda"), capabilities = axes.find("capabilities");
  if (cuda_axis == axes.end() || capabilities == axes.end() || capabilities->second.is_default())
    return std::nullopt;
  const auto cuda = ParseCudaVersion(cuda_axis->second.Joined());
  if (!cuda || std::find(std::begin(kVersions), std::end(kVersions), *cuda) == std::end(kVersions))
    return std::nullopt;

  const std::vector<std::string>& words = capabilities->second.words;
  for (const std::string& word : words) {
    if (auto refusal = VersionRefusal(*cuda, word)) return refusal;
  }
  const auto system = axes.find("system"), forward_compat = axes.find("forward_compat");
  if (auto refusal = JetsonRefusal(words, system == axes.end() ? "" : system->second.Joined()))
    return refusal;
  return SuffixRefusal(words, forward_compat == axes.end() ? nullptr : &forward_compat->second);
}

}  // namespace hydrant
