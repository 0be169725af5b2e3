#include "daemon/evaluate/wanted_environment.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace hydrant {

bool WantsEnvironment(const Matrix& matrix, const Variant& variant) {
  const bool of_python = absl::StartsWith(variant.package, "python3Packages.");
  return std::any_of(matrix.checks.begin(), matrix.checks.end(), [&](const CheckSpec& check) {
    const bool python = check.environment == "python" || (check.environment.empty() && of_python);
    return python && MatchesVariant(matrix, check.variants, variant);
  });
}

}  // namespace hydrant
