#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant {
namespace {

bool MatchesPattern(std::string_view glob, const Variant& variant) {
  return GlobMatches(glob, variant.id) || GlobMatches(glob, variant.name) ||
         GlobMatches(glob, variant.package);
}

// " (the nearest is 'torch')" when the NAME of the glob is nearly one of the matrix.
std::string NearestName(const Expansion& expansion, const std::string& glob) {
  std::string word = glob.substr(0, glob.find('@', 1));
  while (word.ends_with('*')) word.pop_back();
  std::set<std::string> names;
  for (const Variant& variant : expansion.variants) names.insert(variant.name);
  const std::vector<std::string> known(names.begin(), names.end());
  const std::string nearest = NearestWord(word, known);
  return nearest.empty() || nearest == word ? "" : absl::StrCat(" (the nearest is '", nearest, "')");
}

// Globs of one [[exclude]] that no declared package or value of their axis matches.
void LookAtExclude(const Matrix& matrix, const Selection& exclude, const Expansion& expansion,
                   std::vector<std::string>* unmatched) {
  for (const auto& [name, globs] : exclude.axes) {
    const std::string& axis = name;  // a lambda cannot hold a structured binding
    for (const std::string& glob : globs) {
      const bool found =
          axis == "package"
              ? std::any_of(expansion.variants.begin(), expansion.variants.end(),
                            [&](const Variant& each) { return MatchesVariant(matrix, glob, each); })
              : std::any_of(expansion.slices.begin(), expansion.slices.end(), [&](const Slice& each) {
                  const auto value = each.axes.find(axis);
                  return value != each.axes.end() && GlobMatches(glob, value->second.Joined());
                });
      const std::string nearest = axis == "package" ? NearestName(expansion, glob) : "";
      if (!found) unmatched->push_back(absl::StrCat("[[exclude]] ", axis, " '", glob, "'", nearest));
    }
  }
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
    if (!found) unmatched.push_back(absl::StrCat(where, " '", glob, "'", NearestName(expansion, glob)));
  };
  if (matrix.derived) return unmatched;  // nobody knows the names yet
  for (const Selection& exclude : matrix.exclude) LookAtExclude(matrix, exclude, expansion, &unmatched);
  for (const std::string& glob : matrix.gate.required) look("[gate] required", glob);
  for (const CheckSpec& check : matrix.checks) look("[[check]] for", check.variants);
  for (const LimitsFor& entry : matrix.limits_for) look("[[limits.for]] package", entry.package);
  return unmatched;
}

}  // namespace hydrant
