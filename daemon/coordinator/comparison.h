// What changed between two evaluations, and why: each variant's first differing input. Answers from the record's
// derivations, and from the store where those are gone; takes each in once and remembers it as numbers. Calls no
// Nix and changes nothing.
#ifndef HYDRANT_DAEMON_COORDINATOR_COMPARISON_H_
#define HYDRANT_DAEMON_COORDINATOR_COMPARISON_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/evaluate/derivation_closure.h"
#include "daemon/graph/derivation_difference.h"
#include "lib/base/mutex.h"

namespace hydrant {

struct ChangeCauseView {
  std::string text;           // "cudnn 8.9.7 → 9.1.0"
  std::string kind;           // DifferenceKindName, or "evaluation"
  std::string before, after;  // .drv paths; empty of "evaluation"
  int64_t variants = 0;
};

struct VariantChangeView {
  std::string change;  // changed new gone
  std::optional<GridVariant> before, after;
  std::optional<size_t> cause;     // a place in ComparisonView::causes
  std::vector<std::string> chain;  // names from its derivation down to the one that differs first
};

struct ComparisonView {
  EvaluationRecord before, after;
  std::vector<ChangeCauseView> causes;     // of most variants first
  std::vector<VariantChangeView> changes;  // in the order of the newer evaluation, then those that are gone
  std::map<std::string, int64_t> totals;   // unchanged changed new gone
};

// The cached variant that some derivation is nearest to.
struct NearestView {
  std::string matrix, variant, derivation;
  size_t differing_inputs = 0;  // direct ones
  std::string text;             // the first difference from it; empty: it is the same
  std::vector<std::string> chain;
};

class Comparison {
 public:
  // `store` null: only what is recorded.
  struct Options {
    const Coordinator& coordinator;
    DerivationClosure* store = nullptr;
  };
  explicit Comparison(Options options) : options_(options) {}

  // NotFound: no such evaluation. Any thread.
  absl::StatusOr<ComparisonView> Compare(EvaluationId before, EvaluationId after) ABSL_LOCKS_EXCLUDED(mu_);
  // Of the variants that a cache holds now, in the newest evaluation of each matrix, and that are the same
  // package, the one with the fewest differing inputs. NotFound: the derivation is not known, or nothing of its
  // name is cached. Any thread.
  absl::StatusOr<NearestView> NearestCached(const std::string& derivation) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Derivations as they are parsed, kept while a comparison's views are into them.
  class Reader;
  // Takes in what the roots need, as far as it is known.
  void TakeIn(const std::vector<DerivationNumber>& roots, Reader& reader) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::string> Names(const std::vector<DerivationDifference::Pair>& chain) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  size_t DifferingInputs(DerivationNumber a, DerivationNumber b) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  Mutex mu_;
  DerivationTable table_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_COMPARISON_H_
