// What decides an evaluation's outcomes, as one name a slice: equal names, equal outcomes. Knows nothing of
// where they are kept.
#ifndef HYDRANT_DAEMON_EVALUATE_EVALUATION_KEY_H_
#define HYDRANT_DAEMON_EVALUATE_EVALUATION_KEY_H_

#include <string>

#include "absl/status/statusor.h"
#include "daemon/evaluate/evaluator.h"
#include "lib/nix/command_environment.h"

namespace hydrant {

// The programs that evaluate: driver, built-in recipes, Nix's version, the stack they get. The error that
// running Nix gives. A process of about 10 ms.
absl::StatusOr<std::string> EvaluatorIdentity(const nix::CommandSettings& nix);

// SHA-256, base32, over the tree, the import's configuration, the slice and `evaluator`; not over the
// packages. A tree in a Nix store counts by its path too, which an expression can see.
std::string SliceKey(const EvaluationInput& input, const Slice& slice, const std::string& evaluator);

// The same for a derived package list: over its first possible slice, the switch and the filter.
// `input.matrix` has one and `input.expansion` slices.
std::string DerivedListKey(const EvaluationInput& input, const std::string& evaluator);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVALUATION_KEY_H_
