// The words of Severity.
#ifndef HYDRANT_DAEMON_AUDIT_SEVERITY_H_
#define HYDRANT_DAEMON_AUDIT_SEVERITY_H_

#include <optional>
#include <string_view>

#include "daemon/audit/finding.h"

namespace hydrant {

inline std::string_view SeverityName(Severity severity) {
  return severity == Severity::kRefuse ? "refuse" : "warn";
}

inline std::optional<Severity> ParseSeverity(std::string_view name) {
  for (const Severity severity : {Severity::kWarn, Severity::kRefuse}) {
    if (SeverityName(severity) == name) return severity;
  }
  return std::nullopt;
}

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_SEVERITY_H_
