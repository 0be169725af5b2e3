// Which settings of nixpkgs change derivations and which only allow them. The second kind is no axis, stands
// in no id and in no slice: what is reached through different permissions is one variant and one derivation.
#ifndef HYDRANT_LIB_MATRIX_SETTINGS_H_
#define HYDRANT_LIB_MATRIX_SETTINGS_H_

#include <span>
#include <string_view>

namespace hydrant {

enum class SettingKind {
  kIdentity,    // part of the derivation
  kPermission,  // decides only whether it evaluates
};

// Names of nixpkgs' config and of [nixpkgs] allow that are permissions. Source: nixpkgs
// pkgs/stdenv/generic/check-meta.nix.
std::span<const std::string_view> PermissionSettings();

// Whatever is not known as a permission is taken for identity: a wrong guess costs a second variant, the
// other way round it would show one for another. A setting of nixpkgs by name: "cudaSupport", "allowUnfree";
// of a nested one only the first name counts.
SettingKind KindOfSetting(std::string_view name);

// The axis whose value a recipe writes to this setting of nixpkgs' config ("cudaCapabilities" ->
// "capabilities"); "" when there is none.
std::string_view AxisOfSetting(std::string_view name);

// The switches that a derived package list may follow (changed_by).
std::span<const std::string_view> PackageSwitches();

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_SETTINGS_H_
