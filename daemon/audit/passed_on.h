// Which of its inputs a derivation passes on to whoever uses it: read from the variables that say so. Pure.
#ifndef HYDRANT_DAEMON_AUDIT_PASSED_ON_H_
#define HYDRANT_DAEMON_AUDIT_PASSED_ON_H_

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace hydrant {

using EnvironmentVariable = std::pair<std::string_view, std::string_view>;

// The store paths in `propagatedBuildInputs`, and in `paths` and `pkgs` of what joins folders (buildEnv,
// symlinkJoin); with structured attributes, the members of these names in `__json`. Views into the values, in
// their order, repeated ones included.
std::vector<std::string_view> PassedOnPaths(std::span<const EnvironmentVariable> environment);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_PASSED_ON_H_
