#include "lib/matrix/notes.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <unordered_map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/axis_value.h"
#include "lib/matrix/capabilities.h"
#include "lib/matrix/licence.h"
#include "lib/matrix/nearest_word.h"
#include "lib/matrix/package_rules.h"

namespace hydrant {
namespace {

using Axes = std::map<std::string, AxisValue>;

// The lists of nixpkgs' platforms that people build CUDA packages on.
const std::vector<std::string> KnownSystems() {
  return {"x86_64-linux",  "aarch64-linux",     "x86_64-darwin", "aarch64-darwin",
          "riscv64-linux", "powerpc64le-linux", "i686-linux",    "armv7l-linux"};
}

std::string TextOf(const Axes& axes, const char* axis) {
  const auto value = axes.find(axis);
  return value == axes.end() || value->second.is_default() ? "" : value->second.Joined();
}

std::string NearestText(const std::string& word, const std::vector<std::string>& known) {
  const std::string nearest = NearestWord(word, known);
  return nearest.empty() || nearest == word ? "" : absl::StrCat("; the nearest is ", nearest);
}

// The release of the same major number that is nearest; of 12.9.1 it is 12.9.
std::string NearestRelease(const std::string& cuda) {
  std::vector<std::string> parts = absl::StrSplit(cuda, '.');
  parts.resize(2, "0");
  const auto wanted = ParseCudaVersion(absl::StrJoin(parts, "."));
  const CudaVersion* nearest = nullptr;
  for (const CudaVersion& each : CudaVersions()) {
    if (!wanted || each.major != wanted->major) continue;
    const auto away = [&](const CudaVersion& version) { return std::abs(version.minor - wanted->minor); };
    if (nearest == nullptr || away(each) <= away(*nearest)) nearest = &each;
  }
  return nearest == nullptr ? "" : absl::StrCat("; the nearest is ", nearest->Text());
}

std::string UnknownCuda(const std::string& cuda) {
  const auto version = ParseCudaVersion(cuda);
  if (cuda.empty() || (version && IsKnownCuda(*version))) return "";
  return absl::StrCat("CUDA ", cuda, " is not a release that the rules know (", CudaVersions().front().Text(),
                      " … ", CudaVersions().back().Text(), "), so none of them judges it",
                      NearestRelease(cuda));
}

std::string UnknownSystem(const std::string& system) {
  const std::vector<std::string> known = KnownSystems();
  if (std::find(known.begin(), known.end(), system) != known.end()) return "";
  const std::string nearest = NearestText(system, known);
  return nearest.empty() ? ""
                         : absl::StrCat("system ", system, " is not one that is often built for", nearest);
}

// A Python set of nixpkgs is called python312, python313FreeThreading or pypy310.
bool IsPythonSet(std::string_view name) {
  for (const std::string_view head : {"python", "pypy"}) {
    if (!name.starts_with(head)) continue;
    const std::string_view rest = name.substr(head.size());
    return !rest.empty() && absl::ascii_isdigit(static_cast<unsigned char>(rest[0])) && rest.find('.') == rest.npos;
  }
  return false;
}

std::string UnknownPython(const std::string& python) {
  if (python.empty() || IsPythonSet(python)) return "";
  std::string digits = python;
  std::erase_if(digits, [](unsigned char c) { return !absl::ascii_isdigit(c); });
  const char* kind = python.starts_with("pypy") ? "pypy" : "python";
  return absl::StrCat("python ", python, " is no set of nixpkgs; those are called as python312",
                      digits.empty() ? "" : absl::StrCat("; the nearest is ", kind, digits));
}

std::string DefaultList(const Axes& axes) {
  const auto declared = axes.find("capabilities");
  const auto cuda = ParseCudaVersion(TextOf(axes, "cuda"));
  if (!cuda || declared == axes.end() || declared->second.is_default()) return "";
  const std::vector<std::string_view> defaults = DefaultCapabilities(*cuda);
  const std::vector<std::string>& words = declared->second.words;
  const auto is_default = [&](std::string_view word) {
    return std::find(defaults.begin(), defaults.end(), word) != defaults.end();
  };
  if (defaults.empty() || !std::all_of(words.begin(), words.end(), is_default)) return "";
  if (std::equal(words.begin(), words.end(), defaults.begin(), defaults.end())) {
    return absl::StrCat("capabilities ", absl::StrJoin(words, " "), " are the default list of CUDA ",
                        cuda->Text(), ": [\"default\"] is what caches hold");
  }
  std::string list;
  for (const std::string_view name : defaults)
    absl::StrAppend(&list, list.empty() ? "" : " ", AbslView(name));
  return absl::StrCat(words.size() == 1 ? "capability " : "capabilities ", absl::StrJoin(words, " "),
                      words.size() == 1 ? " is" : " are", " already in the default list of ", cuda->Text(),
                      " (", list, "): a build of its own is smaller, and in no other cache");
}

std::string SpecificWithoutFlag(const Axes& axes) {
  const auto declared = axes.find("capabilities");
  if (declared == axes.end() || axes.contains("forward_compat")) return "";
  for (const std::string& word : declared->second.words) {
    if (!word.ends_with('a')) continue;
    return absl::StrCat("capability ", word,
                        " is for one architecture and never forward compatible, and nixpkgs asks for forward "
                        "compatibility unless told not to: declare forward_compat = false");
  }
  return "";
}

std::string RemovedSet(const Matrix& matrix, const std::string& cuda) {
  const auto version = ParseCudaVersion(cuda);
  if (matrix.nixpkgs.recipe != "2025" || !version || *version >= CudaVersion{12, 6}) return "";
  return absl::StrCat("CUDA ", cuda,
                      " was removed from nixpkgs on 2025-08-08 with all before 12.6 (NixOS/nixpkgs#434827): "
                      "only earlier trees have it");
}

// Sets that no declared value of their axis names.
template <typename Set>
std::vector<std::string> UnusedSets(const Matrix& matrix, const std::map<std::string, Set>& sets,
                                    const char* axis) {
  std::vector<std::string> notes;
  const auto declared = std::find_if(matrix.axes.begin(), matrix.axes.end(),
                                     [&](const Axis& each) { return each.name == axis; });
  for (const auto& [name, set] : sets) {
    const AxisValue value{{name}};
    const bool used =
        declared != matrix.axes.end() &&
        std::find(declared->values.begin(), declared->values.end(), value) != declared->values.end();
    if (!used)
      notes.push_back(absl::StrCat("the set '", name, "' of ", axis, " is used by nothing: [axes.more] ",
                                   axis, " does not name it"));
  }
  return notes;
}

constexpr size_t kSlip = 2;  // letters by which a name may differ from the one that was meant

// A further axis whose name is nearly that of one that means something.
std::string NearlyKnownAxis(const std::string& axis) {
  if (IsKnownAxis(axis)) return "";
  for (const char* known : kAxisOrder) {
    const bool near = EditDistance(axis, known) <= kSlip && axis.size() > kSlip;
    if (near) return absl::StrCat("[axes.more] ", axis, " is an axis of your own; the nearest of nixpkgs' is ", known);
  }
  return "";
}

// A licence whose name is nearly that of one that nixpkgs gives to CUDA's packages. Others may be as they are:
// nixpkgs has hundreds.
std::string NearlyKnownLicence(const char* list, const std::string& name) {
  const std::string small = absl::AsciiStrToLower(name);
  std::vector<std::string_view> known = {"free", "unfree"};
  for (const KnownLicence& each : KnownLicences()) known.push_back(each.licence);
  std::string_view nearest;
  for (std::string_view each : known) {
    const size_t distance = EditDistance(small, absl::AsciiStrToLower(AbslView(each)));
    if (distance == 0) return "";
    if (nearest.empty() && distance <= kSlip && small.size() > 2 * kSlip) nearest = each;
  }
  if (nearest.empty()) return "";
  return absl::StrCat("[license] ", list, " '", name, "' is no licence of CUDA's packages; the nearest is '",
                      AbslView(nearest), "'");
}

// What the gate waits for and no evaluation will bring.
std::string ImpossibleRequirement(const Matrix& matrix, const Expansion& expansion, const std::string& glob) {
  const Variant* refused = nullptr;
  for (const Variant& variant : expansion.variants) {
    if (!MatchesVariant(matrix, glob, variant)) continue;
    if (variant.cause == Cause::kNone) return "";
    refused = &variant;
  }
  if (refused == nullptr) return "";
  return absl::StrCat("[gate] required '", glob, "' matches only what is impossible (", refused->id, ": ",
                      refused->message, "), so the gate can never pass");
}

// Notes in the order in which they came, each once.
class Notes {
 public:
  void Add(std::string note) {
    if (note.empty() || !seen_.insert(note).second) return;
    if (notes_.size() < kMaxNotes) notes_.push_back(std::move(note));
  }
  std::vector<std::string> Take() {
    if (seen_.size() > notes_.size())
      notes_.back() = absl::StrCat("and ", seen_.size() - notes_.size() + 1, " notes more");
    return std::move(notes_);
  }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> notes_;
};

// The slices that differ in what notes are about: one of each.
std::vector<const Axes*> DistinctSlices(const Expansion& expansion) {
  std::set<std::string> seen;
  std::vector<const Axes*> distinct;
  for (const Slice& slice : expansion.slices) {
    std::string key;
    for (const char* axis : {"cuda", "python", "capabilities", "forward_compat", "system"}) {
      absl::StrAppend(&key, TextOf(slice.axes, axis), "\n");
    }
    if (seen.insert(std::move(key)).second) distinct.push_back(&slice.axes);
  }
  return distinct;
}

}  // namespace

std::vector<std::string> NotesOf(const Matrix& matrix, const Expansion& expansion) {
  Notes notes;
  for (auto& note : UnusedSets(matrix, matrix.nixpkgs.overlay_sets, "overlays")) notes.Add(std::move(note));
  for (auto& note : UnusedSets(matrix, matrix.nixpkgs.config_sets, "config")) notes.Add(std::move(note));
  for (const Axis& axis : matrix.axes) notes.Add(NearlyKnownAxis(axis.name));
  for (const std::string& name : matrix.licence_public) notes.Add(NearlyKnownLicence("public", name));
  for (const std::string& name : matrix.licence_private) notes.Add(NearlyKnownLicence("private", name));
  for (const std::string& glob : matrix.gate.required) notes.Add(ImpossibleRequirement(matrix, expansion, glob));
  std::set<std::string> cudas, pythons, systems;
  for (const Axes* axes : DistinctSlices(expansion)) {
    const std::string cuda = TextOf(*axes, "cuda"), python = TextOf(*axes, "python");
    if (cudas.insert(cuda).second) {
      notes.Add(UnknownCuda(cuda));
      notes.Add(RemovedSet(matrix, cuda));
    }
    if (pythons.insert(python).second) notes.Add(UnknownPython(python));
    const std::string system = TextOf(*axes, "system");
    if (systems.insert(system).second) notes.Add(UnknownSystem(system));
    notes.Add(DefaultList(*axes));
    notes.Add(SpecificWithoutFlag(*axes));
  }
  std::unordered_map<std::string_view, bool> ruled;
  for (const Variant& variant : expansion.variants) {
    const auto [known, is_new] = ruled.try_emplace(variant.package, false);
    if (is_new) known->second = HasPackageRule(variant.package);
    if (!known->second || variant.cause != Cause::kNone) continue;
    if (auto advice = PackageAdvice(variant.package, expansion.slices[variant.slice].axes))
      notes.Add(*advice + ": not in every tree, so it is left to the evaluation");
  }
  return notes.Take();
}

}  // namespace hydrant
