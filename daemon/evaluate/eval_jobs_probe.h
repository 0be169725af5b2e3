// Whether a nix-eval-jobs keeps a tree from the rest of this machine's disk. Versions before 2.30 undo Nix's restrict-eval,
// whatever its configuration says, and whoever may submit a matrix would read with them what hydrantd may read.
#ifndef HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_PROBE_H_
#define HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_PROBE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace hydrant {

// The arguments for what NIX_PATH of `env` names, which the program takes from its command line only.
std::vector<std::string> LookupArguments(const std::map<std::string, std::string>& env);

// Has `program` evaluate, with the environment of an evaluation, an expression that reads a file that it may read and one
// that it may not, both made in `folder`, which exists. FailedPrecondition, with what to do about it, when it reads the
// second or does not evaluate the first.
absl::Status CheckIsRestricted(const std::string& program, std::map<std::string, std::string> env,
                               const std::string& folder);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_EVAL_JOBS_PROBE_H_
