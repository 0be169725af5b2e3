// The two halves of a derivation's name, as Nix tells them apart. Knows nothing of graphs.
#ifndef HYDRANT_DAEMON_GRAPH_PACKAGE_NAME_H_
#define HYDRANT_DAEMON_GRAPH_PACKAGE_NAME_H_

#include <string>
#include <string_view>

namespace hydrant {

// Views into the name that was split.
struct PackageName {
  std::string_view package;  // "cuda12.8-cudnn"
  std::string_view version;  // "9.7.1"; empty: it has none
  friend bool operator==(const PackageName&, const PackageName&) = default;
};

// The version begins behind the first dash that no letter follows (builtins.parseDrvName of Nix).
PackageName SplitPackageName(std::string_view name);

// "cudnn-8.9.7" of "/nix/store/<hash>-cudnn-8.9.7.drv"; what is no such path comes back as it is.
std::string_view NameOfDerivation(std::string_view path);

// What a package is called whatever the release of the set that it belongs to: runs of digits, with dots and
// underscores between them, become '#'. "python3.12-numpy" and "python3.13-numpy" are both "python#-numpy".
std::string WithoutNumbers(std::string_view package);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_PACKAGE_NAME_H_
