// What a consistency rule has to say of one variant. Plain values: neither the rules nor what is done about
// it.
#ifndef HYDRANT_DAEMON_AUDIT_FINDING_H_
#define HYDRANT_DAEMON_AUDIT_FINDING_H_

#include <string>
#include <vector>

namespace hydrant {

enum class Severity { kWarn, kRefuse };

struct Finding {
  std::string rule;  // its name: "two_cuda_releases"
  Severity severity = Severity::kWarn;
  std::string message;            // a sentence
  std::vector<std::string> path;  // names, from the variant's own derivation down to what was found
  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_FINDING_H_
