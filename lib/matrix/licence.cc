#include "lib/matrix/licence.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// Source: meta.license of nixpkgs' pkgs/development/cuda-modules, mkl, nvidia-optix and cudatoolkit of 2018
// to 2024.
constexpr KnownLicence kKnown[] = {
    {"cudatoolkit", "CUDA EULA"},
    {"cuda-merged", "CUDA EULA"},
    {"cuda_", "CUDA EULA"},
    {"libcublas", "CUDA EULA"},
    {"libcublasmp", "CUDA EULA"},
    {"libcudss", "CUDA EULA"},
    {"libcufft", "CUDA EULA"},
    {"libcufile", "CUDA EULA"},
    {"libcurand", "CUDA EULA"},
    {"libcusolver", "CUDA EULA"},
    {"libcusparse", "CUDA EULA"},
    {"libnpp", "CUDA EULA"},
    {"libnvfatbin", "CUDA EULA"},
    {"libnvjitlink", "CUDA EULA"},
    {"libnvjpeg", "CUDA EULA"},
    {"libnvvm", "CUDA EULA"},
    {"nsight_", "CUDA EULA"},
    {"cudnn", "cuDNN EULA"},
    {"cutensor", "cuTENSOR EULA"},
    {"libcutensor", "cuTENSOR EULA"},
    {"cusparselt", "cuSPARSELt EULA"},
    {"libcusparse_lt", "cuSPARSELt EULA"},
    {"tensorrt", "TensorRT EULA"},
    {"nvidia-optix", "NVidia OptiX EULA"},
    {"nvidia-x11", "unfree"},
    {"mkl", "issl"},
};

std::string Small(std::string_view text) { return absl::AsciiStrToLower(AbslView(text)); }

std::vector<std::string> Small(const std::vector<std::string>& words) {
  std::vector<std::string> small;
  for (const std::string& word : words) small.push_back(Small(word));
  return small;
}

bool Has(const std::vector<std::string>& words, std::string_view name, bool free) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return has(Small(name)) || has(free ? "free" : "unfree");
}

// "cudnn-9.7.1" of "cuda12.9-cudnn-9.7.1".
std::string_view WithoutSet(std::string_view name) {
  constexpr std::string_view kSet = "cuda", kVersion = "0123456789.";
  if (!name.starts_with(kSet)) return name;
  const size_t dash = name.find_first_not_of(kVersion, kSet.size());
  return dash == name.npos || dash == kSet.size() || name[dash] != '-' ? name : name.substr(dash + 1);
}

bool IsOf(std::string_view name, std::string_view package) {
  if (!name.starts_with(package)) return false;
  const bool all = package.ends_with('_') || package.ends_with('-');
  return all || name.size() == package.size() || name[package.size()] == '-';
}

}  // namespace

std::string_view TierName(Tier tier) { return tier == Tier::kPublic ? "public" : "private"; }

std::optional<Tier> ParseTier(std::string_view name) {
  for (const Tier tier : {Tier::kPublic, Tier::kPrivate}) {
    if (TierName(tier) == name) return tier;
  }
  return std::nullopt;
}

std::span<const KnownLicence> KnownLicences() { return kKnown; }

LicencePolicy::LicencePolicy(const Matrix& matrix)
    : declared_(matrix.licence_declared),
      public_(Small(matrix.licence_public)),
      private_(Small(matrix.licence_private)) {}

Tier LicencePolicy::OfLicence(std::string_view name, bool free) const {
  if (!declared_) return Tier::kPublic;
  if (Has(private_, name, free)) return Tier::kPrivate;
  return Has(public_, name, free) ? Tier::kPublic : Tier::kPrivate;
}

Tier LicencePolicy::OfPackage(std::span<const Licence> licences) const {
  if (!declared_) return Tier::kPublic;
  if (licences.empty()) return Tier::kPrivate;
  return std::all_of(
             licences.begin(), licences.end(),
             [&](const Licence& licence) { return OfLicence(licence.name, licence.free) == Tier::kPublic; })
             ? Tier::kPublic
             : Tier::kPrivate;
}

std::optional<Tier> LicencePolicy::OfName(std::string_view name) const {
  for (const KnownLicence& known : kKnown) {
    if (IsOf(WithoutSet(name), known.package)) return OfLicence(known.licence, /*free=*/false);
  }
  return std::nullopt;
}

}  // namespace hydrant
