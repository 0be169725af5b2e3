// Whether nixpkgs' own Hydra would leave a package out, and why. Pure.
#ifndef HYDRANT_DAEMON_AUDIT_HYDRA_POLICY_H_
#define HYDRANT_DAEMON_AUDIT_HYDRA_POLICY_H_

#include <optional>
#include <string>

#include "daemon/evaluate/variant_facts.h"
#include "lib/failure/cause.h"

namespace hydrant {

struct HydraVerdict {
  // Empty: not known. False: nothing that is known of the package keeps it out.
  std::optional<bool> skips;
  std::string
      reason;  // "unfree: CUDA EULA, through cudatoolkit-12.9.1", "broken", …; empty where it does not skip
  std::string
      sentence;  // the same for a person, with the inputs through which it comes; empty where not known
  friend bool operator==(const HydraVerdict&, const HydraVerdict&) = default;
};

// Hydra evaluates nixpkgs with its defaults: unfree, broken, insecure and, for their system, unsupported
// packages are refused, and so is what needs such a one (pkgs/top-level/release-lib.nix and
// pkgs/stdenv/generic/check-meta.nix, which asks in this order: unfree, broken, unsupported, insecure), and
// builds the rest where meta.hydraPlatforms, if it has that, names the system (release-lib.nix, packagePlatforms).
// `cause` is why the variant has no derivation here; kNone: it has one, and `facts` are of it. What facts do
// not tell: an input of that kind farther away than the evaluator looks.
HydraVerdict JudgeForHydra(const VariantFacts& facts, Cause cause);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_HYDRA_POLICY_H_
