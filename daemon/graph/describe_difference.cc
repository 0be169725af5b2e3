// A difference in words.
#include "absl/strings/str_cat.h"
#include "daemon/graph/derivation_difference.h"

namespace hydrant {
namespace {

constexpr char kArrow[] = " → ";

std::string Change(std::string_view before, std::string_view after) {
  return absl::StrCat(before.empty() ? "(nothing)" : std::string(before), kArrow,
                      after.empty() ? "(nothing)" : std::string(after));
}

std::string Versions(const DerivationTable& table, const Difference& difference) {
  const PackageName before = table.package_name(difference.before),
                    after = table.package_name(difference.after);
  if (before.package != after.package || before.version.empty() || after.version.empty())
    return absl::StrCat(std::string(table.name(difference.before)), kArrow,
                        std::string(table.name(difference.after)));
  return absl::StrCat(std::string(before.package), " ", Change(before.version, after.version));
}

std::string Source(const Difference& difference) {
  if (difference.old_value.empty() && difference.new_value.empty())
    return absl::StrCat("its source changed (", difference.what, ")");
  if (difference.old_value.empty()) return absl::StrCat("its source ", difference.new_value, " is new");
  if (difference.new_value.empty()) return absl::StrCat("its source ", difference.old_value, " is gone");
  return absl::StrCat("its source changed (", Change(difference.old_value, difference.new_value), ")");
}

}  // namespace

std::string_view DifferenceKindName(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kVersion: return "version";
    case DifferenceKind::kSource: return "source";
    case DifferenceKind::kInputAdded: return "input_added";
    case DifferenceKind::kInputRemoved: return "input_removed";
    case DifferenceKind::kSystem: return "system";
    case DifferenceKind::kOutputs: return "outputs";
    case DifferenceKind::kBuilder: return "builder";
    case DifferenceKind::kArguments: return "arguments";
    case DifferenceKind::kEnvironment: return "environment";
    case DifferenceKind::kUsedOutputs: return "used_outputs";
    case DifferenceKind::kNotRecorded: return "not_recorded";
  }
  return "";
}

std::string DescribeDifference(const DerivationTable& table, const Difference& difference) {
  const auto of = [&](std::string_view what) {
    return absl::StrCat(std::string(table.package_name(difference.after).package), ": ", std::string(what));
  };
  switch (difference.kind) {
    case DifferenceKind::kVersion:
      return Versions(table, difference);
    case DifferenceKind::kSource:
      return of(Source(difference));
    case DifferenceKind::kInputAdded:
      return of(difference.what + " is a new input");
    case DifferenceKind::kInputRemoved:
      return of(difference.what + " is no input any more");
    case DifferenceKind::kSystem:
      return of(absl::StrCat("system ", Change(difference.old_value, difference.new_value)));
    case DifferenceKind::kOutputs:
      return of("it has other outputs");
    case DifferenceKind::kBuilder:
      return of(absl::StrCat("builder ", Change(difference.old_value, difference.new_value)));
    case DifferenceKind::kArguments:
      return of("builder arguments changed");
    case DifferenceKind::kEnvironment:
      return of(absl::StrCat("environment variable ", difference.what, ": ",
                             Change(difference.old_value, difference.new_value)));
    case DifferenceKind::kUsedOutputs:
      return of("it uses other outputs of the same inputs");
    case DifferenceKind::kNotRecorded:
      return of("it changed; what it is made of is not recorded any more");
  }
  return "";
}

}  // namespace hydrant
