#include "lib/matrix/settings.h"

#include <algorithm>
#include <iterator>

namespace hydrant {
namespace {

constexpr std::string_view kPermissions[] = {
    "unfree",
    "broken",
    "insecure",  // as [nixpkgs] allow has them
    "allowAliases",
    "allowBroken",
    "allowInsecurePredicate",
    "allowUnfree",
    "allowUnfreePackages",
    "allowUnfreePredicate",
    "allowUnsupportedSystem",
    "allowNonSource",
    "allowNonSourcePredicate",
    "allowlistedLicenses",
    "blocklistedLicenses",
    "checkMeta",
    "inHydra",
    "permittedInsecurePackages",
    "problems",
    "showDerivationWarnings",
};

struct Written {
  std::string_view setting, axis;
};
constexpr Written kWritten[] = {
    {"cudaCapabilities", "capabilities"},
    {"cudaForwardCompat", "forward_compat"},
};

constexpr std::string_view kSwitches[] = {"cudaSupport", "rocmSupport"};

}  // namespace

std::span<const std::string_view> PermissionSettings() { return kPermissions; }

SettingKind KindOfSetting(std::string_view name) {
  name = name.substr(0, name.find('.'));
  return std::find(std::begin(kPermissions), std::end(kPermissions), name) == std::end(kPermissions)
             ? SettingKind::kIdentity
             : SettingKind::kPermission;
}

std::string_view AxisOfSetting(std::string_view name) {
  const auto* found = std::find_if(std::begin(kWritten), std::end(kWritten),
                                   [&](const Written& each) { return each.setting == name; });
  return found == std::end(kWritten) ? std::string_view() : found->axis;
}

std::span<const std::string_view> PackageSwitches() { return kSwitches; }

}  // namespace hydrant
