#include "lib/matrix/rules.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

constexpr std::string_view kJetsonSystem = "aarch64-linux";
// Jetson before Thor has libraries of its own (linux-aarch64), which serve no other device.
constexpr std::string_view kFirstThor = "10.1";
constexpr std::string_view kJetsonSource = "nixpkgs cudaPackages.backendStdenv, assertions";
constexpr std::string_view kFamilySource = "NixOS/nixpkgs#522144";
constexpr std::string_view kSpecificSource = "PTX ISA, targets with the suffix a; nixpkgs pkgsForCudaArch";

// "CUDA 12.6 supports 5.0 … 9.0a"
std::string SupportText(CudaVersion cuda) {
  std::string_view first, last;
  for (const Capability& capability : Capabilities()) {
    if (capability.jetson || !Supports(cuda, capability)) continue;
    if (first.empty()) first = capability.name;
    last = capability.name;
  }
  return absl::StrCat("CUDA ", cuda.Text(), " supports ", std::string(first), " … ", std::string(last));
}

// " (source)": every refusal ends with it.
std::string Cited(std::string_view source) { return absl::StrCat(" (", std::string(source), ")"); }

std::optional<std::string> VersionRefusal(CudaVersion cuda, const std::string& word) {
  const Capability* capability = FindCapability(word);
  if (capability == nullptr) {
    return absl::StrCat(SupportText(cuda), "; ", word, " is not a capability of any CUDA up to ",
                        CudaVersions().back().Text(), Cited(Capabilities().back().source));
  }
  if (cuda < capability->first) {
    const auto first = std::find_if(CudaVersions().begin(), CudaVersions().end(),
                                    [&](CudaVersion version) { return version >= capability->first; });
    return absl::StrCat(SupportText(cuda), "; ", word, " needs CUDA ", first->Text(), " or newer",
                        Cited(capability->source));
  }
  if (!Supports(cuda, *capability)) {
    return absl::StrCat(SupportText(cuda), "; ", word, " needs CUDA ", capability->last->Text(), " or older",
                        Cited(capability->source));
  }
  return std::nullopt;
}

bool IsJetson(const std::string& word) {
  const Capability* capability = FindCapability(word);
  return capability != nullptr && capability->jetson;
}

bool IsBeforeThor(const std::string& word) {
  return IsJetson(word) && FindCapability(word) < FindCapability(kFirstThor);
}

std::optional<std::string> JetsonRefusal(const std::vector<std::string>& words, std::string_view system) {
  const auto jetson = std::find_if(words.begin(), words.end(), IsJetson);
  if (jetson == words.end()) return std::nullopt;
  if (system != kJetsonSystem) {
    return absl::StrCat(*jetson, " is a Jetson's capability and needs system ", std::string(kJetsonSystem),
                        ", not ", std::string(system.empty() ? "an unknown one" : system),
                        Cited(kJetsonSource));
  }
  const auto old = std::find_if(words.begin(), words.end(), IsBeforeThor);
  const auto other = std::find_if_not(words.begin(), words.end(), IsBeforeThor);
  if (old == words.end() || other == words.end()) return std::nullopt;
  return absl::StrCat("Jetson capabilities below ", std::string(kFirstThor), " stand alone: list ", *old,
                      " and ", *other, " as two values of the axis, [\"", *old, "\"] and [\"", *other, "\"]",
                      Cited(kJetsonSource));
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
    // nvcc aborts at build; the evaluation does not see it.
    return absl::StrCat("nvcc does not build the family ", *family, " together with the baseline ", *baseline,
                        ": list them as two values of the axis, [\"", *family, "\"] and [\"", *baseline,
                        "\"]", Cited(kFamilySource));
  }
  if (specific != words.end() && forward_compat != nullptr && forward_compat->Joined() == "true") {
    return absl::StrCat(
        *specific, " is for one architecture and never forward compatible: it needs forward_compat = false",
        Cited(kSpecificSource));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> CapabilityRefusal(const std::map<std::string, AxisValue>& axes) {
  const auto cuda_axis = axes.find("cuda"), capabilities = axes.find("capabilities");
  if (capabilities == axes.end() || capabilities->second.is_default()) return std::nullopt;
  const std::vector<std::string>& words = capabilities->second.words;
  const auto cuda = cuda_axis == axes.end() ? std::nullopt : ParseCudaVersion(cuda_axis->second.Joined());
  if (cuda && IsKnownCuda(*cuda)) {
    for (const std::string& word : words) {
      if (auto refusal = VersionRefusal(*cuda, word)) return refusal;
    }
  }
  const auto system = axes.find("system"), forward_compat = axes.find("forward_compat");
  if (auto refusal = JetsonRefusal(words, system == axes.end() ? "" : system->second.Joined()))
    return refusal;
  return SuffixRefusal(words, forward_compat == axes.end() ? nullptr : &forward_compat->second);
}

}  // namespace hydrant
