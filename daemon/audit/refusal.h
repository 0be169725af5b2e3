// What a matrix makes of findings: those of the rules in its `[audit] refuse` fail the variant before it is
// built. Pure.
#ifndef HYDRANT_DAEMON_AUDIT_REFUSAL_H_
#define HYDRANT_DAEMON_AUDIT_REFUSAL_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/audit/finding.h"
#include "lib/failure/cause.h"

namespace hydrant {

// Findings of these rules become refusals, the others warnings.
void SetSeverity(std::span<const std::string> refused_rules, std::vector<Finding>& findings);

struct Refusal {
  Cause cause = Cause::kAuditFailed;  // kDuplicateModules for the rule of that name
  std::string message;                // "rule two_cuda_releases: …"
};
// Of the first finding that refuses; nothing: none does.
std::optional<Refusal> RefusalOf(std::span<const Finding> findings);
// Whether a variant that evaluated may have this cause: that of a refusal.
bool IsRefusal(Cause cause);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_REFUSAL_H_
