// The consistency rules by name: what `[audit]` of a matrix lists and findings are told under. Data; the
// rules themselves are the daemon's.
#ifndef HYDRANT_LIB_MATRIX_AUDIT_RULE_H_
#define HYDRANT_LIB_MATRIX_AUDIT_RULE_H_

#include <span>
#include <string_view>

namespace hydrant {

inline constexpr std::string_view kDuplicateModules = "duplicate_modules";
inline constexpr std::string_view kTwoCudaReleases = "two_cuda_releases";
inline constexpr std::string_view kTwoCudaFlavours = "two_cuda_flavours";
inline constexpr std::string_view kNamedPackage = "named_package";
inline constexpr std::string_view kCudaSupport = "cuda_support";
inline constexpr std::string_view kCudaVersion = "cuda_version";
inline constexpr std::string_view kCapabilities = "capabilities";
inline constexpr std::string_view kPython = "python";
inline constexpr std::string_view kForcesUnfree = "forces_unfree";

struct AuditRule {
  std::string_view name;
  std::string_view about;  // a line for a person
};
// In the order in which findings are told. `[audit] refuse` may name each: what it refuses by is there with the
// outcome of a variant, before anything is built.
std::span<const AuditRule> AuditRules();

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_AUDIT_RULE_H_
