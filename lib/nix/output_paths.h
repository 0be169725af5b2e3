// Where a derivation's outputs will lie: Nix's "hash modulo" over a closure, in which a fixed output counts
// by its content alone, so that a new mirror of a source rebuilds nothing. Rules: Nix's libstore,
// hashDerivationModulo.
#ifndef HYDRANT_LIB_NIX_OUTPUT_PATHS_H_
#define HYDRANT_LIB_NIX_OUTPUT_PATHS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/nix/closure.h"
#include "lib/nix/derivation.h"
#include "lib/nix/hash.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {

// Remembers each derivation's hash: inputs are added before those that use them. One thread.
class OutputPaths {
 public:
  struct Paths {
    std::map<std::string, std::string> by_output;  // "" where the path is not known yet
    Sha256Digest
        digest;  // with the outputs left out: the hash of a realisation's id (sha256:<base16>!<output>)
  };

  // What the outputs of `derivation` are, whatever paths it says itself; `name` is that of its .drv, without
  // ".drv". FailedPrecondition: an input is not added. InvalidArgument: an input has no such output; its
  // outputs are of different kinds; a fixed output is not the only one, or not named out.
  absl::StatusOr<Paths> Compute(std::string_view name, const Derivation& derivation) const;

  // Takes a derivation as it is, for those that use it. Errors of Compute. Of one that is there already:
  // nothing.
  absl::Status Add(const StorePath& path, const Derivation& derivation);

  // That the outputs, the variables with their names and the .drv's own path follow from the derivation.
  // Errors of Compute; InvalidArgument names the first that does not, with what it should be.
  absl::Status Verify(const StorePath& path, const Derivation& derivation) const;

 private:
  struct Known {
    Sha256Digest digest;
    bool deferred = false;  // its users' paths are not known before it is built
    std::vector<std::string> outputs;
  };
  // The inputs by hash, and whether one of them is deferred.
  struct Inputs {
    std::map<std::string, std::set<std::string>> by_hash;
    bool deferred = false;
  };
  absl::StatusOr<Inputs> InputsOf(const Derivation& derivation) const;

  absl::flat_hash_map<std::string, Known> known_;
};

// The path of the .drv file itself.
absl::StatusOr<StorePath> PathOfDerivation(std::string_view name, const Derivation& derivation);

// Verifies each derivation of a closure, whose files it reads once more from `store_root`. The first error
// names the .drv.
absl::Status VerifyOutputPaths(const Closure& closure, const std::string& store_root);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_OUTPUT_PATHS_H_
