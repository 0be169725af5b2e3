#include "daemon/audit/refusal.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/matrix/audit_rule.h"

namespace hydrant {

void SetSeverity(std::span<const std::string> refused_rules, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    const bool refused =
        std::find(refused_rules.begin(), refused_rules.end(), finding.rule) != refused_rules.end();
    finding.severity = refused ? Severity::kRefuse : Severity::kWarn;
  }
}

std::optional<Refusal> RefusalOf(std::span<const Finding> findings) {
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::kRefuse) continue;
    return Refusal{
        .cause = finding.rule == kDuplicateModules ? Cause::kDuplicateModules : Cause::kAuditFailed,
        .message = absl::StrCat("rule ", finding.rule, ": ", finding.message)};
  }
  return std::nullopt;
}

bool IsRefusal(Cause cause) { return cause == Cause::kAuditFailed || cause == Cause::kDuplicateModules; }

}  // namespace hydrant
