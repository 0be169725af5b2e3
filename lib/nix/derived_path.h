// What a daemon is asked to make: a path as it is, or outputs of a derivation. As Nix spells it for the
// protocol:
// "/nix/store/…", "/nix/store/….drv!out,dev", "/nix/store/….drv!*".
#ifndef HYDRANT_LIB_NIX_DERIVED_PATH_H_
#define HYDRANT_LIB_NIX_DERIVED_PATH_H_

#include <compare>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hydrant::nix {

struct DerivedPath {
  enum class Kind { kOpaque, kAllOutputs, kOutputs };
  std::string path;  // full; of the derivation, unless opaque
  Kind kind = Kind::kOpaque;
  std::set<std::string> outputs;  // kOutputs only

  static DerivedPath Opaque(std::string path) { return {std::move(path), Kind::kOpaque, {}}; }
  static DerivedPath AllOutputs(std::string derivation) {
    return {std::move(derivation), Kind::kAllOutputs, {}};
  }
  static DerivedPath Outputs(std::string derivation, std::set<std::string> names) {
    return {std::move(derivation), Kind::kOutputs, std::move(names)};
  }
  // InvalidArgument: what stands before '!' is no store path, what stands after is no list of output names.
  static absl::StatusOr<DerivedPath> Parse(std::string_view text);
  std::string ToString() const;
  // InvalidArgument names what ToString() would spell wrongly.
  absl::Status Check() const;

  friend auto operator<=>(const DerivedPath&, const DerivedPath&) = default;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DERIVED_PATH_H_
