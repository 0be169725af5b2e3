#include "lib/matrix/nixpkgs_sets.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant {
namespace {

constexpr char kOverlays[] = "overlays", kConfig[] = "config";

template <typename Set>
std::vector<std::string> NamesOf(const std::map<std::string, Set>& sets) {
  std::vector<std::string> names = {"default"};
  for (const auto& [name, set] : sets) names.push_back(name);
  return names;
}

// The set that the axes choose; null when they choose none.
template <typename Set>
const Set* Chosen(const std::map<std::string, Set>& sets, const char* axis,
                  const std::map<std::string, AxisValue>& axes) {
  const auto value = axes.find(axis);
  if (value == axes.end() || value->second.is_default()) return nullptr;
  const auto set = sets.find(value->second.Joined());
  return set == sets.end() ? nullptr : &set->second;
}

}  // namespace

bool IsSetAxis(const NixpkgsSpec& nixpkgs, const std::string& axis) {
  const bool built_in = nixpkgs.recipe_text.empty();
  if (axis == kOverlays) return built_in || !nixpkgs.overlay_sets.empty();
  return axis == kConfig && (built_in || !nixpkgs.config_sets.empty());
}

std::string SetFault(const NixpkgsSpec& nixpkgs, const std::string& axis, const AxisValue& value) {
  if (!IsSetAxis(nixpkgs, axis) || value.is_default()) return "";
  const bool overlays = axis == kOverlays;
  const std::string name = value.Joined(),
                    table = overlays ? "[nixpkgs.overlay_sets]" : "[nixpkgs.config_sets]";
  const std::vector<std::string> known =
      overlays ? NamesOf(nixpkgs.overlay_sets) : NamesOf(nixpkgs.config_sets);
  for (const std::string& each : known) {
    if (each == name) return "";
  }
  if (known.size() == 1) {
    const char* example = overlays ? " = [\"x.nix\"]" : " = { enableX = true }";
    return absl::StrCat("'", name, "' names a set, and the matrix has none; expected one in ", table,
                        ", such as ", name, example);
  }
  return absl::StrCat("'", name, "' is no set of ", table, NearestHint(name, known),
                      " (known: ", absl::StrJoin(known, ", "), ")");
}

const std::vector<Overlay>* OverlaySetOf(const NixpkgsSpec& nixpkgs,
                                         const std::map<std::string, AxisValue>& axes) {
  return Chosen(nixpkgs.overlay_sets, kOverlays, axes);
}

const std::string* ConfigSetOf(const NixpkgsSpec& nixpkgs, const std::map<std::string, AxisValue>& axes) {
  return Chosen(nixpkgs.config_sets, kConfig, axes);
}

}  // namespace hydrant
