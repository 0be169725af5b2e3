#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/matrix/expansion.h"

namespace hydrant {
namespace {

bool MatchesPattern(std::string_view glob, const Variant& variant) {
  return GlobMatches(glob, variant.id) || GlobMatches(glob, variant.name) ||
         GlobMatches(glob, variant.package);
}

}  // namespace

bool MatchesVariant(const Matrix& matrix, std::string_view glob, const Variant& variant) {
  if (!glob.starts_with('@')) return MatchesPattern(glob, variant);
  const auto group = matrix.groups.find(std::string(glob.substr(1)));
  if (group == matrix.groups.end()) return false;
  return std::any_of(group->second.begin(), group->second.end(),
                     [&](const std::string& member) { return MatchesPattern(member, variant); });
}

const Limits& LimitsOf(const Matrix& matrix, const Variant& variant) {
  const auto last =
      std::find_if(matrix.limits_for.rbegin(), matrix.limits_for.rend(),
                   [&](const LimitsFor& entry) { return MatchesVariant(matrix, entry.package, variant); });
  return last == matrix.limits_for.rend() ? matrix.limits : last->limits;
}

std::vector<std::string> GlobsWithoutVariants(const Matrix& matrix, const Expansion& expansion) {
  std::vector<std::string> unmatched;
  const auto look = [&](const char* where, const std::string& glob) {
    const bool found =
        std::any_of(expansion.variants.begin(), expansion.variants.end(),
                    [&](const Variant& variant) { return MatchesVariant(matrix, glob, variant); });
    if (!found) unmatched.push_back(absl::StrCat(where, " '", glob, "'"));
  };
  for (const std::string& glob : matrix.gate.required) look("[gate] required", glob);
  for (const CheckSpec& check : matrix.checks) look("[[check]] for", check.variants);
  for (const LimitsFor& entry : matrix.limits_for) look("[[limits.for]] package", entry.package);
  return unmatched;
}

}  // namespace hydrant
