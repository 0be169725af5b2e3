// Whether a package is what its slice asked for, as far as the package's own facts tell. Pure.
#ifndef HYDRANT_DAEMON_AUDIT_ASKED_AUDIT_H_
#define HYDRANT_DAEMON_AUDIT_ASKED_AUDIT_H_

#include <map>
#include <string>
#include <vector>

#include "daemon/audit/finding.h"
#include "daemon/evaluate/variant_facts.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// cuda_support, cuda_version, capabilities, python: where passthru tells something and it is not what `axes`
// (of the variant's slice) say. An axis that is default or not declared asks for nothing, and neither does a
// package that tells nothing: most are indifferent to CUDA. forces_unfree: each question of `facts.hygiene`.
// All as warnings, without a path.
// A slice asks for CUDA support where it has the axis cuda, unless its accelerator is another.
std::vector<Finding> JudgeAsked(const std::map<std::string, AxisValue>& axes, const VariantFacts& facts);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_ASKED_AUDIT_H_
