// From a matrix to its slices and variants, each with a stable id. Pure: the same matrix gives the same ids
// in the same order on every machine.
#ifndef HYDRANT_LIB_MATRIX_EXPANSION_H_
#define HYDRANT_LIB_MATRIX_EXPANSION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/failure/cause.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// Cells above this are refused, with the count and this cap.
inline constexpr uint64_t kMaxCells = 1'000'000;

struct Slice {
  // Declared axes (system always), by name. `capabilities` may hold several words.
  std::map<std::string, AxisValue> axes;
  std::string
      key;  // "cuda12.9-py313-x86_64-linux": the AXES part of its variants' ids; distinct within a matrix
};

struct Variant {
  std::string id;              // NAME@AXES
  std::string name;            // NAME
  std::string package;         // attribute path as declared
  size_t slice = 0;            // index into Expansion::slices
  Cause cause = Cause::kNone;  // kExcluded, kCapability, kRule: impossible before any work
  std::string message;         // why, and what would be possible
};

struct Expansion {
  std::vector<Slice> slices;      // in id order of their first variant
  std::vector<Variant> variants;  // packages in declared order, slices in axis order; includes last
};

// `system` stands in for an axis `system` that is not declared or is "default". An include outranks an
// exclude of its cell, an exclude a rule. InvalidArgument: too many cells (told before any is made), or two
// cells of one id. FailedPrecondition: the package list is derived, so it needs an evaluation.
absl::StatusOr<Expansion> ExpandMatrix(const Matrix& matrix, std::string_view system);

// The same for a matrix whose package list is derived: `packages` is what the evaluation found, of which the
// filter keeps what it matches, each once, in order.
absl::StatusOr<Expansion> ExpandDerivedMatrix(const Matrix& matrix, std::string_view system,
                                              std::span<const std::string> packages);

// Whether the filter of a matrix with a derived list keeps a package.
bool MatchesDerivedFilter(const Matrix& matrix, const std::string& package);

// The first slice in which some package may be: none of the rules about a slice as a whole refuses it. Where
// every one is refused, the first. `expansion` has slices.
size_t FirstPossibleSlice(const Expansion& expansion);

// The slice as recipes and JSON see it: {"cuda":"12.9","capabilities":["8.9"],"forward_compat":true,…}; keys
// sorted.
std::string SliceJson(const Slice& slice);

// Shell-like: * ? [..]; `@name` stands for a group of the matrix. Matches the id, NAME or the attribute path.
bool MatchesVariant(const Matrix& matrix, std::string_view glob, const Variant& variant);
bool GlobMatches(std::string_view glob, std::string_view text);

// Globs of [gate], [[check]], [[limits.for]] and [[exclude]] that match nothing, as "[gate] required
// 'torhc@*' (the nearest is 'torch')": surely typing errors. None of a matrix whose list is derived.
std::vector<std::string> GlobsWithoutVariants(const Matrix& matrix, const Expansion& expansion);

// Limits of a package: [[limits.for]] whose glob matches last wins, else [limits].
const Limits& LimitsOf(const Matrix& matrix, const Variant& variant);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_EXPANSION_H_
