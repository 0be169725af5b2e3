// Which packages a switch changes: two evaluations of the same names compared. Pure; knows nothing of how
// they were evaluated.
#ifndef HYDRANT_DAEMON_EVALUATE_DERIVED_LIST_H_
#define HYDRANT_DAEMON_EVALUATE_DERIVED_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/evaluate/evaluator.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// Names of a list at which evaluators may have died; with more, the list is worth nothing.
inline constexpr size_t kMostUnknown = 50;

// The sets of packages in which a filter's names can stand: "" (the top level), "python3Packages", and what
// its globs, those of its groups among them, say before their first dot when that holds no wildcard.
std::vector<std::string> SetsOfFilter(const Matrix& matrix);

// Those that the filter of a matrix with a derived list keeps, each once, in order.
std::vector<std::string> FilteredPackages(const Matrix& matrix, const std::vector<std::string>& packages);

class DerivedComparison {
 public:
  explicit DerivedComparison(std::vector<std::string> packages)
      : packages_(std::move(packages)), off_(packages_.size()), on_(packages_.size()) {}

  // Outcome::variant of a name: its place in `packages`, with the switch on beyond all places of the switch
  // off.
  size_t Place(size_t package, bool on) const { return on ? packages_.size() + package : package; }
  const std::vector<std::string>& packages() const { return packages_; }
  void Take(const std::vector<Outcome>& outcomes);
  // After all outcomes. Unavailable when evaluators died at more than kMostUnknown.
  absl::StatusOr<DerivedList> List(std::string_view changed_by) const;

 private:
  struct Side {
    Cause cause = Cause::kUnknown;
    std::string derivation, message;
  };
  const std::vector<std::string> packages_;
  std::vector<Side> off_, on_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DERIVED_LIST_H_
