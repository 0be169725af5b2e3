#include "lib/matrix/expansion.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/cell_grid.h"
#include "lib/matrix/package_rules.h"
#include "lib/matrix/rules.h"
#include "lib/matrix/variant_id.h"

namespace hydrant {
namespace {

// Whether the selection's axes, the package aside, hold for the slice.
bool SliceMatches(const Selection& selection, const Slice& slice) {
  for (const auto& [axis, globs] : selection.axes) {
    if (axis == "package") continue;
    const auto value = slice.axes.find(axis);
    if (value == slice.axes.end()) return false;
    const std::string text = value->second.Joined();
    if (std::none_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return GlobMatches(glob, text); }))
      return false;
  }
  return true;
}

// For each slice the excludes, by index, whose axes hold for it.
std::vector<std::vector<size_t>> ExcludesOfSlices(const Matrix& matrix, const std::vector<Slice>& slices) {
  std::vector<std::vector<size_t>> excludes(slices.size());
  for (size_t slice = 0; slice < slices.size(); ++slice) {
    for (size_t i = 0; i < matrix.exclude.size(); ++i) {
      if (SliceMatches(matrix.exclude[i], slices[slice])) excludes[slice].push_back(i);
    }
  }
  return excludes;
}

void MarkExcluded(const Selection& exclude, Variant* variant) {
  variant->cause = Cause::kExcluded;
  variant->message = exclude.reason.empty() ? "excluded by an [[exclude]] of the matrix" : exclude.reason;
}

// Why no package can be in the slice; kNone when some can.
struct Refusal {
  Cause cause = Cause::kNone;
  std::string message;
};

Refusal RefusalOf(const AxisPoint& point) {
  if (auto refusal = CapabilityRefusal(point)) return {Cause::kCapability, *std::move(refusal)};
  if (auto refusal = LibraryRefusal(point)) return {Cause::kRule, *std::move(refusal)};
  return {};
}

struct Name {
  std::string text;
  bool has_rule = false;  // some rule is about the package
};

// The cells of a matrix as they are added: each slice once, each variant once.
class Expander {
 public:
  Expander(const Matrix& matrix, std::string_view system) : matrix_(matrix), system_(system) {}

  absl::StatusOr<Expansion> Run();

 private:
  absl::Status CheckCount() const;
  void NamePackages();
  absl::StatusOr<std::vector<size_t>> SlicesOf(const std::vector<Axis>& axes, bool must_be_new);
  absl::StatusOr<size_t> SliceOf(AxisPoint point, bool must_be_new);
  void AddVariant(const std::string& package, size_t slice);
  absl::Status AddDeclared();
  absl::Status AddIncluded(const Selection& include);
  bool ExcludesPackage(const Selection& exclude, const std::string& package) const;

  const Matrix& matrix_;
  const std::string system_;
  Expansion result_;
  std::unordered_map<std::string, size_t> slice_by_key_;
  std::vector<Refusal> refusals_;                // of each slice
  std::unordered_map<std::string, Name> names_;  // of each package
  // The cells that an include may meet again. Filled only when there are includes.
  std::unordered_map<std::string, size_t> variant_by_id_;
};

absl::StatusOr<Expansion> Expander::Run() {
  HYDRANT_RETURN_IF_ERROR(CheckCount());
  NamePackages();
  HYDRANT_RETURN_IF_ERROR(AddDeclared());
  for (const Selection& include : matrix_.include) HYDRANT_RETURN_IF_ERROR(AddIncluded(include));
  return std::move(result_);
}

absl::Status Expander::CheckCount() const {
  uint64_t cells = CellCount(DeclaredGrid(matrix_));
  std::string text = CellCountText(DeclaredGrid(matrix_));
  for (const Selection& include : matrix_.include) {
    if (__builtin_add_overflow(cells, CellCount(IncludedGrid(matrix_, include)), &cells)) cells = UINT64_MAX;
  }
  if (cells <= kMaxCells) return absl::OkStatus();
  if (!matrix_.include.empty()) absl::StrAppend(&text, ", and what [[include]] adds");
  return absl::InvalidArgumentError(absl::StrCat("matrix ", matrix_.name, " has ",
                                                 cells == UINT64_MAX ? "at least " : "", cells, " cells (",
                                                 text, "); the cap is ", kMaxCells));
}

void Expander::NamePackages() {
  std::vector<std::string> packages;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& package : more) {
      if (names_.try_emplace(package).second) packages.push_back(package);
    }
  };
  add(matrix_.packages);
  for (const Selection& include : matrix_.include) {
    if (const auto chosen = include.axes.find("package"); chosen != include.axes.end()) add(chosen->second);
  }
  const std::vector<std::string> names = VariantNames(packages);
  for (size_t i = 0; i < packages.size(); ++i) names_[packages[i]] = {names[i], HasPackageRule(packages[i])};
}

// Of two points whose texts are equal. No axis has a value twice, but for what "default" stands for.
std::string WhyTheSame(const AxisPoint& one, const AxisPoint& other) {
  for (const auto& [axis, value] : one) {
    const auto found = other.find(axis);
    if (found == other.end() || found->second != value)
      return absl::StrCat("they differ in ", axis, ", which does not show in it");
  }
  return "system \"default\" is that of the farm, which [axes] names beside it";
}

absl::StatusOr<size_t> Expander::SliceOf(AxisPoint point, bool must_be_new) {
  AxisValue& system = point["system"];
  if (system.words.empty() || system.is_default()) system = AxisValue{{system_}};
  std::string key = AxesText(point);
  const auto [found, is_new] = slice_by_key_.try_emplace(key, result_.slices.size());
  if (!is_new && (must_be_new || result_.slices[found->second].axes != point)) {
    return absl::InvalidArgumentError(absl::StrCat("matrix ", matrix_.name, ": two cells have the id …@", key,
                                                   ": ",
                                                   WhyTheSame(result_.slices[found->second].axes, point)));
  }
  if (is_new) {
    refusals_.push_back(RefusalOf(point));
    result_.slices.push_back({std::move(point), std::move(key)});
  }
  return found->second;
}

absl::StatusOr<std::vector<size_t>> Expander::SlicesOf(const std::vector<Axis>& axes, bool must_be_new) {
  std::vector<size_t> slices;
  absl::Status status;
  ForEachPoint(axes, [&](AxisPoint point) {
    if (!status.ok()) return;
    auto slice = SliceOf(std::move(point), must_be_new);
    if (slice.ok()) slices.push_back(*slice);
    status = slice.status();
  });
  if (!status.ok()) return status;
  return slices;
}

void Expander::AddVariant(const std::string& package, size_t slice) {
  const Name& name = names_[package];
  Variant variant{absl::StrCat(name.text, "@", result_.slices[slice].key), name.text, package, slice};
  if (const Refusal& refusal = refusals_[slice]; refusal.cause != Cause::kNone) {
    variant.cause = refusal.cause;
    variant.message = refusal.message;
  } else if (name.has_rule) {
    if (auto message = PackageRefusal(package, result_.slices[slice].axes)) {
      variant.cause = Cause::kRule;
      variant.message = *std::move(message);
    }
  }
  result_.variants.push_back(std::move(variant));
}

absl::Status Expander::AddDeclared() {
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<size_t> slices, SlicesOf(matrix_.axes, true));
  result_.variants.reserve(matrix_.packages.size() * slices.size());
  const std::vector<std::vector<size_t>> excludes_of_slice = ExcludesOfSlices(matrix_, result_.slices);
  for (const std::string& package : matrix_.packages) {
    std::vector<bool> excludes;
    for (const Selection& exclude : matrix_.exclude) excludes.push_back(ExcludesPackage(exclude, package));
    for (const size_t slice : slices) {
      AddVariant(package, slice);
      const auto& candidates = excludes_of_slice[slice];
      const auto first =
          std::find_if(candidates.begin(), candidates.end(), [&](size_t i) { return excludes[i]; });
      if (first != candidates.end()) MarkExcluded(matrix_.exclude[*first], &result_.variants.back());
    }
  }
  if (matrix_.include.empty()) return absl::OkStatus();
  for (size_t i = 0; i < result_.variants.size(); ++i) variant_by_id_[result_.variants[i].id] = i;
  return absl::OkStatus();
}

absl::Status Expander::AddIncluded(const Selection& include) {
  const CellGrid grid = IncludedGrid(matrix_, include);
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<size_t> slices, SlicesOf(grid.axes, false));
  for (const std::string& package : grid.packages) {
    for (const size_t slice : slices) {
      AddVariant(package, slice);
      const auto [known, is_new] =
          variant_by_id_.try_emplace(result_.variants.back().id, result_.variants.size() - 1);
      if (is_new) continue;
      result_.variants[known->second] = std::move(result_.variants.back());
      result_.variants.pop_back();
    }
  }
  return absl::OkStatus();
}

bool Expander::ExcludesPackage(const Selection& exclude, const std::string& package) const {
  const auto globs = exclude.axes.find("package");
  if (globs == exclude.axes.end()) return true;
  const Variant probe{.id = "", .name = names_.at(package).text, .package = package};
  return std::any_of(globs->second.begin(), globs->second.end(),
                     [&](const std::string& glob) { return MatchesVariant(matrix_, glob, probe); });
}

}  // namespace

absl::StatusOr<Expansion> ExpandMatrix(const Matrix& matrix, std::string_view system) {
  if (matrix.derived) {
    return absl::FailedPreconditionError(absl::StrCat(
        "matrix ", matrix.name, ": its package list is derived (what ", matrix.derived->changed_by,
        " changes, filter ", absl::StrJoin(matrix.derived->filter, " "),
        "), so it needs an evaluation: the file alone does not tell the variants"));
  }
  return Expander(matrix, system).Run();
}

absl::StatusOr<Expansion> ExpandDerivedMatrix(const Matrix& matrix, std::string_view system,
                                              std::span<const std::string> packages) {
  if (!matrix.derived) return ExpandMatrix(matrix, system);
  Matrix listed = matrix;
  listed.derived.reset();
  std::unordered_set<std::string_view> seen;
  for (const std::string& package : packages) {
    if (MatchesDerivedFilter(matrix, package) && seen.insert(package).second)
      listed.packages.push_back(package);
  }
  return ExpandMatrix(listed, system);
}

bool MatchesDerivedFilter(const Matrix& matrix, const std::string& package) {
  const Variant probe{.id = package, .name = VariantNames({package}).front(), .package = package};
  const auto& filter = matrix.derived->filter;
  return std::any_of(filter.begin(), filter.end(),
                     [&](const std::string& glob) { return MatchesVariant(matrix, glob, probe); });
}

size_t FirstPossibleSlice(const Expansion& expansion) {
  const auto possible = [](const Slice& slice) { return RefusalOf(slice.axes).cause == Cause::kNone; };
  const auto found = std::find_if(expansion.slices.begin(), expansion.slices.end(), possible);
  return found == expansion.slices.end() ? 0 : found - expansion.slices.begin();
}

}  // namespace hydrant
