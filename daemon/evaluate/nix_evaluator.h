// Evaluates with the stock Nix of the machine: a process a slice, some at once. Design: ways of failing,
// isolation and bounds are slice_evaluation's; this shards, writes the files that Nix reads and keeps the
// results from garbage collection.
#ifndef HYDRANT_DAEMON_EVALUATE_NIX_EVALUATOR_H_
#define HYDRANT_DAEMON_EVALUATE_NIX_EVALUATOR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/evaluate/driver_request.h"
#include "daemon/evaluate/evaluator.h"
#include "daemon/evaluate/evaluator_death.h"
#include "daemon/evaluate/gc_roots.h"
#include "lib/base/mutex.h"
#include "lib/nix/command_environment.h"

namespace hydrant {

class NixEvaluator final : public Evaluator {
 public:
  struct Options {
    // Its `folder` is this evaluator's alone: what is in it is replaced.
    nix::CommandSettings nix;
    int evaluators = 2;               // processes at once
    uint64_t memory = 1'500'000'000;  // bytes of heap of each; 0: none
    absl::Duration variant_timeout =
        absl::Minutes(1);  // the longest for one variant, or for importing the tree
  };

  // Writes the driver into the private folder. An error names the file.
  static absl::StatusOr<std::unique_ptr<NixEvaluator>> Open(Options options);

  // FailedPrecondition when there is no Nix or its store cannot be opened, NotFound when the tree is not
  // there, InvalidArgument for a recipe that is neither built in nor given as text.
  absl::Status Evaluate(const EvaluationInput& input, const std::function<void(std::vector<Outcome>)>& take,
                        const std::atomic<bool>& cancelled) override;
  void Release(const std::string& root) override;

 private:
  explicit NixEvaluator(Options options);
  struct Shared;

  absl::Status PrepareStore() ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<std::vector<DriverRequest>> Slices(const EvaluationInput& input,
                                                    const std::string& folder) const;
  // Takes slices until there is none left.
  void Work(const EvaluationInput& input, const std::string& folder, const std::vector<DriverRequest>& slices,
            Shared& shared) const;
  absl::StatusOr<std::vector<Outcome>> EvaluateSlice(const EvaluationInput& input, const std::string& file,
                                                     const DriverRequest& slice,
                                                     const std::function<bool()>& stop) const;

  const Options options_;
  const GcRoots roots_;
  Mutex mu_;
  bool store_ready_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_NIX_EVALUATOR_H_
