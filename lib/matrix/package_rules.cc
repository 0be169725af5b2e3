#include "lib/matrix/package_rules.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/capabilities.h"
#include "lib/matrix/expansion.h"

namespace hydrant {
namespace {

using Axes = std::map<std::string, AxisValue>;
using Devices = LibraryRule::Devices;

constexpr CudaVersion kNever = {0, 0};
constexpr CudaRange Major(int major) { return {CudaVersion{major, 0}, CudaVersion{major + 1, 0}}; }
constexpr CudaRange From(int major, int minor) { return {CudaVersion{major, minor}, std::nullopt}; }
constexpr CudaRange Before(int major, int minor) { return {std::nullopt, CudaVersion{major, minor}}; }
constexpr CudaRange kAnyCuda = {};
constexpr CudaRange kNoCuda = {std::nullopt, kNever};

constexpr PackageRule kPackages[] = {
    {"jax-cuda12-*", Major(12), true, "nixpkgs jax-cuda12-plugin, problem unsupported-cuda-version"},
    {"jax-cuda13-*", Major(13), true, "nixpkgs jax-cuda13-plugin, problem unsupported-cuda-version"},
    {"nsight_systems", From(11, 8), true, "nixpkgs cudaPackages.nsight_systems"},
    {"nvidia_driver", kNoCuda, true, "nixpkgs cudaPackages.nvidia_driver; the driver is the machine's"},
    {"catboost", Major(11), false, "nixpkgs catboost before 2024; later trees mark it broken with CUDA"},
    {"torch-bin", From(13, 0), false, "nixpkgs torch-bin of 2026 needs cuda-bindings 13.0.3"},
    {"ctranslate2", Before(13, 0), false, "NixOS/nixpkgs#536525: builds for compute_53"},
};

constexpr std::string_view kCudnn = "nixpkgs cudaPackages.cudnn, platform assertions";
constexpr std::string_view kCudnnJetson = "NVIDIA's cuDNN manifests: frozen for Jetson before Thor";
constexpr std::string_view kTensorRt = "NVIDIA's TensorRT manifests";
constexpr std::string_view kTorch = "nixpkgs python3Packages.torch, brokenConditions";
constexpr CudaRange Between(CudaVersion from, CudaVersion before) { return {from, before}; }

constexpr LibraryRule kLibraries[] = {
    {"cudnn", "cudnn", From(9, 12), Devices::kAll, kAnyCuda, std::nullopt, "7.5", kCudnn},
    {"cudnn", "cudnn", Between({8, 8}, {9, 12}), Devices::kAll, kAnyCuda, std::nullopt, "5.0", kCudnn},
    {"cudnn", "cudnn", Between({8, 5}, {8, 8}), Devices::kAll, kAnyCuda, std::nullopt, "3.5", kCudnn},
    {"cudnn", "cudnn", From(9, 21), Devices::kJetsonBeforeThor, Major(12), kNoCuda, "", kCudnnJetson},
    {"cudnn", "cudnn", From(9, 14), Devices::kJetsonBeforeThor, Major(13), kNoCuda, "", kCudnnJetson},
    {"libcusparse_lt", "cusparselt", From(0, 9), Devices::kAll, kAnyCuda, From(13, 0), "",
     "NVIDIA's cuSPARSELt manifests: 0.9 has no CUDA 12"},
    {"tensorrt", "tensorrt", From(10, 8), Devices::kJetsonBeforeThor, kAnyCuda, kNoCuda, "", kTensorRt},
    {"tensorrt", "tensorrt", From(10, 14), Devices::kArmServer, Major(12), kNoCuda, "", kTensorRt},
    {"torch", "torch", Between({2, 0}, {2, 1}), Devices::kAll, kAnyCuda, Major(11), "", kTorch},
    {"torch", "torch", Between({2, 2}, {2, 8}), Devices::kAll, kAnyCuda, Between({11, 0}, {13, 0}), "",
     kTorch},
};

std::string_view LastName(std::string_view package) {
  const size_t point = package.rfind('.');
  return point == package.npos ? package : package.substr(point + 1);
}

// nullopt: not declared, "default", or no release.
std::optional<CudaVersion> ReleaseOf(const Axes& axes, std::string_view axis) {
  const auto value = axes.find(std::string(axis));
  return value == axes.end() ? std::nullopt : ParseCudaVersion(value->second.Joined());
}

// "9_13", "8_3_cudatoolkit_11_5" -> 9.13, 8.3.
std::optional<CudaVersion> ReleaseInName(std::string_view name, std::string_view attribute) {
  if (!name.starts_with(attribute)) return std::nullopt;
  name.remove_prefix(attribute.size());
  if (!name.starts_with('_')) return std::nullopt;
  name.remove_prefix(1);
  const size_t major = name.find('_');
  if (major == name.npos) return std::nullopt;
  const size_t end = name.find('_', major + 1);
  std::string text(name.substr(0, end));
  text[major] = '.';
  return ParseCudaVersion(text);
}

// What the slice builds for: its list, or what "default" stands for. Empty where neither is known.
std::vector<std::string_view> CapabilitiesOf(const Axes& axes) {
  const auto declared = axes.find("capabilities");
  if (declared == axes.end()) return {};
  if (!declared->second.is_default()) return {declared->second.words.begin(), declared->second.words.end()};
  const auto cuda = ReleaseOf(axes, "cuda");
  return cuda ? DefaultCapabilities(*cuda) : std::vector<std::string_view>();
}

bool IsOn(Devices devices, const Axes& axes) {
  if (devices == Devices::kAll) return true;
  const auto system = axes.find("system");
  if (system == axes.end() || system->second.Joined() != "aarch64-linux") return false;
  const std::vector<std::string_view> words = CapabilitiesOf(axes);
  const auto before_thor = [](std::string_view word) {
    const Capability* capability = FindCapability(word);
    return capability != nullptr && capability->jetson && capability < FindCapability("10.1");
  };
  const bool jetson = std::any_of(words.begin(), words.end(), before_thor);
  return devices == Devices::kJetsonBeforeThor ? jetson : !words.empty() && !jetson;
}

// The first capability below the floor; "" when there is none, or one that the table does not know.
std::string_view BelowFloor(const Axes& axes, std::string_view least) {
  for (const std::string_view word : CapabilitiesOf(axes)) {
    const Capability* capability = FindCapability(word);
    if (capability != nullptr && capability < FindCapability(least)) return word;
  }
  return "";
}

std::string Cited(std::string_view source) { return absl::StrCat(" (", AbslView(source), ")"); }

std::optional<std::string> Judge(const LibraryRule& rule, CudaVersion version, const Axes& axes) {
  const auto cuda = ReleaseOf(axes, "cuda");
  if (!rule.versions.Has(version) || !IsOn(rule.devices, axes)) return std::nullopt;
  const bool any_cuda = !rule.about.from && !rule.about.before;
  if (!any_cuda && (!cuda || !rule.about.Has(*cuda))) return std::nullopt;
  const std::string name = absl::StrCat(AbslView(rule.axis), " ", version.Text());
  if (!rule.least_capability.empty()) {
    const std::string_view low = BelowFloor(axes, rule.least_capability);
    if (low.empty()) return std::nullopt;
    return absl::StrCat(name, " supports capabilities from ", AbslView(rule.least_capability), " on, not ",
                        AbslView(low), ": leave that out, or take an older ", AbslView(rule.axis),
                        Cited(rule.source));
  }
  if (rule.cuda->before == kNever) {
    return absl::StrCat(name, " was never released for ",
                        rule.devices == Devices::kArmServer ? "aarch64-linux servers" : "Jetson before Thor",
                        any_cuda ? "" : " with CUDA " + rule.about.Text(),
                        "; the last that was is older than ", rule.versions.from->Text(), Cited(rule.source));
  }
  if (!cuda || rule.cuda->Has(*cuda)) return std::nullopt;
  return absl::StrCat(name, " needs CUDA ", rule.cuda->Text(), ", not ", cuda->Text(), Cited(rule.source));
}

std::optional<std::string> Judge(const PackageRule& rule, std::string_view package, const Axes& axes) {
  if (rule.cuda.before == kNever) {
    return absl::StrCat(AbslView(LastName(package)), " cannot be built with any CUDA: leave it out",
                        Cited(rule.source));
  }
  const auto cuda = ReleaseOf(axes, "cuda");
  if (!cuda || rule.cuda.Has(*cuda)) return std::nullopt;
  return absl::StrCat(AbslView(LastName(package)), " needs CUDA ", rule.cuda.Text(), ", not ", cuda->Text(),
                      Cited(rule.source));
}

std::optional<std::string> JudgePackage(std::string_view package, const Axes& axes, bool binding) {
  for (const PackageRule& rule : kPackages) {
    if (rule.binding != binding || !GlobMatches(rule.attribute, LastName(package))) continue;
    if (auto text = Judge(rule, package, axes)) return text;
  }
  return std::nullopt;
}

}  // namespace

bool CudaRange::Has(CudaVersion version) const {
  return (!from || *from <= version) && (!before || version < *before);
}

std::string CudaRange::Text() const {
  if (!from) return before ? absl::StrCat("older than ", before->Text()) : "of any release";
  if (!before) return from->Text() + " or newer";
  if (from->minor == 0 && *before == CudaVersion{from->major + 1, 0}) return absl::StrCat(from->major);
  return absl::StrCat(from->Text(), " or newer but older than ", before->Text());
}

std::span<const PackageRule> PackageRules() { return kPackages; }

std::span<const LibraryRule> LibraryRules() { return kLibraries; }

bool HasPackageRule(std::string_view package) {
  const std::string_view name = LastName(package);
  return std::any_of(std::begin(kPackages), std::end(kPackages),
                     [&](const PackageRule& rule) { return GlobMatches(rule.attribute, name); }) ||
         std::any_of(std::begin(kLibraries), std::end(kLibraries), [&](const LibraryRule& rule) {
           return ReleaseInName(name, rule.attribute).has_value();
         });
}

std::optional<std::string> PackageRefusal(std::string_view package, const Axes& axes) {
  if (auto refusal = JudgePackage(package, axes, true)) return refusal;
  for (const LibraryRule& rule : kLibraries) {
    const auto version = ReleaseInName(LastName(package), rule.attribute);
    if (!version) continue;
    if (auto refusal = Judge(rule, *version, axes)) return refusal;
  }
  return std::nullopt;
}

std::optional<std::string> LibraryRefusal(const Axes& axes) {
  for (const LibraryRule& rule : kLibraries) {
    const auto version = ReleaseOf(axes, rule.axis);
    if (!version) continue;
    if (auto refusal = Judge(rule, *version, axes)) return refusal;
  }
  return std::nullopt;
}

std::optional<std::string> PackageAdvice(std::string_view package, const Axes& axes) {
  return JudgePackage(package, axes, false);
}

}  // namespace hydrant
