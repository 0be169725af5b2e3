// An evaluator that asks another only for what no earlier evaluation answered: slice by slice, and within a
// slice package by package. Errors of the evaluator itself are never remembered. Knows nothing of how
// outcomes come about.
#ifndef HYDRANT_DAEMON_EVALUATE_CACHED_EVALUATOR_H_
#define HYDRANT_DAEMON_EVALUATE_CACHED_EVALUATOR_H_

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/evaluate/evaluation_cache.h"
#include "daemon/evaluate/evaluator.h"
#include "lib/base/mutex.h"

namespace hydrant {

class CachedEvaluator final : public Evaluator {
 public:
  struct Options {
    Evaluator& evaluator;
    EvaluationCache& cache;
    // Where the evaluator's derivations are: the folder that holds nix/store; "" for the machine's own.
    std::string store_root;
    // What stands for the evaluator's programs in the keys: see EvaluatorIdentity. Asked at each evaluation;
    // an error leaves everything to the evaluator.
    std::function<absl::StatusOr<std::string>()> identity;
    // Told of variants: "hit"; "miss", nobody asked before; "gone", the derivation is not in the store any
    // more.
    std::function<void(std::string_view result, int64_t variants)> observe;
  };
  explicit CachedEvaluator(Options options) : options_(std::move(options)) {}

  // Hits are handed over first, all in one call. A slice that another call is evaluating is waited for. Hits
  // have no garbage collector's roots (thousands of links cost more than all the rest): their derivations
  // cannot be collected while `take` runs with them, and may be afterwards.
  absl::Status Evaluate(const EvaluationInput& input, const std::function<void(std::vector<Outcome>)>& take,
                        const std::atomic<bool>& cancelled) override;
  // A list at which an evaluator died is not remembered, nor with import from derivation any.
  absl::StatusOr<DerivedList> DerivePackages(const EvaluationInput& input,
                                             const std::atomic<bool>& cancelled) override;
  void Release(const std::string& root) override;

 private:
  struct Asked;  // what is asked of one slice
  class Claims;

  std::vector<Asked> Ask(const EvaluationInput& input, const std::string& identity) const;
  // Those of `waiting` that nobody else evaluates, from now on claimed. Waits until there is one, or
  // `cancelled`.
  std::vector<Asked> Claim(std::vector<Asked>& waiting, const std::atomic<bool>& cancelled)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until nobody else has the key; false when `cancelled`.
  bool ClaimAlone(const std::string& key, const std::atomic<bool>& cancelled) ABSL_LOCKS_EXCLUDED(mu_);
  void Unclaim(const std::string& key) ABSL_LOCKS_EXCLUDED(mu_);
  // Fills Asked::known, and takes what is known out of Asked::variants. `there_stays`: nothing is collected
  // meanwhile.
  std::vector<Outcome> TakeKnown(const EvaluationInput& input, bool there_stays,
                                 std::vector<Asked>& slices) const;
  absl::Status EvaluateRest(const EvaluationInput& input, std::vector<Asked>& slices, Claims& claims,
                            const std::function<void(std::vector<Outcome>)>& take,
                            const std::atomic<bool>& cancelled);
  void Remember(const Asked& slice) const;
  // The key is claimed.
  absl::StatusOr<DerivedList> RememberedList(const std::string& key, const EvaluationInput& input,
                                             const std::atomic<bool>& cancelled);
  void Observe(std::string_view result, int64_t variants) const;

  const Options options_;
  Mutex mu_;
  CondVar unclaimed_;
  std::set<std::string> claimed_ ABSL_GUARDED_BY(mu_);  // keys of slices that are being evaluated
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_CACHED_EVALUATOR_H_
