#include "daemon/evaluate/derived_list.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/evaluate/evaluator_death.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kNamed = 5;

// "a, b and 7 more".
std::string Some(const std::vector<std::string>& names) {
  const size_t told = names.size() > kNamed + 1 ? kNamed : names.size();
  std::string text = absl::StrJoin(names.begin(), names.begin() + told, ", ");
  if (told < names.size()) absl::StrAppend(&text, " and ", names.size() - told, " more");
  return PrintableText(text);
}

std::string Counted(size_t count, std::string_view of) {
  return absl::StrCat(count, " ", AbslView(of), count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> SetsOfFilter(const Matrix& matrix) {
  std::vector<std::string> sets = {"", "python3Packages"};
  const auto look = [&](const std::string& glob) {
    const size_t dot = glob.find('.');
    const std::string set = glob.substr(0, dot);
    if (dot == std::string::npos || set.find_first_of("*?[@") != std::string::npos) return;
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  };
  for (const std::string& glob : matrix.derived->filter) {
    look(glob);
    if (!glob.starts_with("@")) continue;
    const auto group = matrix.groups.find(glob.substr(1));
    if (group == matrix.groups.end()) continue;
    for (const std::string& each : group->second) look(each);
  }
  return sets;
}

std::vector<std::string> FilteredPackages(const Matrix& matrix, const std::vector<std::string>& packages) {
  std::vector<std::string> kept;
  std::set<std::string_view> seen;
  for (const std::string& package : packages) {
    if (seen.insert(package).second && MatchesDerivedFilter(matrix, package)) kept.push_back(package);
  }
  return kept;
}

void DerivedComparison::Take(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    const bool on = outcome.variant >= packages_.size();
    Side& side = on ? on_[outcome.variant - packages_.size()] : off_[outcome.variant];
    side = {outcome.cause, outcome.derivation, outcome.message};
  }
}

absl::StatusOr<DerivedList> DerivedComparison::List(std::string_view changed_by) const {
  DerivedList list;
  std::vector<std::string> nowhere, only_off;
  size_t derivations = 0;
  const Side* death = nullptr;
  for (size_t i = 0; i < packages_.size(); ++i) {
    const Side &off = off_[i], &on = on_[i];
    const bool good = on.cause == Cause::kNone;
    derivations += good || off.cause == Cause::kNone ? 1 : 0;
    if (IsEvaluatorDeath(on.cause) || (good && IsEvaluatorDeath(off.cause))) {
      if (death == nullptr) death = good ? &off : &on;
      list.unknown.push_back(packages_[i]);
      list.packages.push_back(packages_[i]);
    } else if (good) {
      if (on.derivation != off.derivation) list.packages.push_back(packages_[i]);
    } else if (on.cause != Cause::kNotADerivation && on.cause != Cause::kMissingAttribute) {
      (off.cause == Cause::kNone ? only_off : nowhere).push_back(packages_[i]);
    }
  }
  if (list.unknown.size() > kMostUnknown) {
    return absl::UnavailableError(absl::StrCat("derive the package list: evaluators died at ",
                                               Counted(list.unknown.size(), "name"), " (", Some(list.unknown),
                                               "): ", death->message));
  }
  list.notes.push_back(absl::StrCat(AbslView(changed_by), " changes ",
                                    list.packages.size() - list.unknown.size(), " of ",
                                    Counted(derivations, "package"), " that the filter keeps"));
  if (!only_off.empty()) {
    list.notes.push_back(absl::StrCat(Counted(only_off.size(), "package"), only_off.size() == 1 ? " evaluates" : " evaluate", " only without ",
                                      AbslView(changed_by), ", left out: ", Some(only_off)));
  }
  if (!nowhere.empty()) {
    list.notes.push_back(
        absl::StrCat(Counted(nowhere.size(), "attribute"), nowhere.size() == 1 ? " does" : " do", " not evaluate, left out: ", Some(nowhere)));
  }
  if (!list.unknown.empty()) {
    list.notes.push_back(absl::StrCat("an evaluator died at ", Some(list.unknown),
                                      ", kept since nobody knows whether they change: ", death->message));
  }
  return list;
}

}  // namespace hydrant
