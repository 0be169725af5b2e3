// Evaluates with the stock Nix of the machine: whole imports of the tree dealt to some processes at once,
// under one budget of memory. Ways of failing and isolation are shard_evaluation's; this shards, writes the
// files that Nix reads and keeps the results from garbage collection.
#ifndef HYDRANT_DAEMON_EVALUATE_NIX_EVALUATOR_H_
#define HYDRANT_DAEMON_EVALUATE_NIX_EVALUATOR_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/evaluate/driver_request.h"
#include "daemon/evaluate/evaluator.h"
#include "daemon/evaluate/evaluator_death.h"
#include "daemon/evaluate/gc_roots.h"
#include "daemon/evaluate/package_names.h"
#include "daemon/evaluate/run_folder.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/nix/command_environment.h"

namespace hydrant {

// For Nix's configuration: what is evaluated reads what NIX_PATH names, nothing else of this machine's disk.
inline constexpr char kRestricted[] = "restrict-eval = true\n";

class NixEvaluator final : public Evaluator {
 public:
  struct Options {
    // Its `folder` is this evaluator's alone: what is in it is replaced.
    nix::CommandSettings nix;
    int evaluators = 2;  // processes at once, at most
    uint64_t memory =
        1'500'000'000;  // bytes of heap of each; times `evaluators`: of all together; 0: no bound
    absl::Duration variant_timeout =
        absl::Minutes(1);  // the longest for one variant, or for importing the tree
    absl::Duration evaluation_timeout = absl::Hours(6);  // the longest for a whole evaluation
    const Clock* clock = nullptr;                        // of both; null: the system's
    // Prefixes of addresses of which a matrix may ask for some.
    std::vector<std::string> allowed_uris = {};
    bool scatter =
        false;  // deals variants instead of imports, as others do: what our way is measured against
    int imports_in_a_process = 0;  // before it is replaced; 0: as memory allows, 15 at most
  };

  // Writes the driver into the private folder. An error names the file.
  static absl::StatusOr<std::unique_ptr<NixEvaluator>> Open(Options options);

  // FailedPrecondition when there is no Nix or its store cannot be opened, NotFound when the tree is not
  // there, InvalidArgument for a recipe that is neither built in nor given as text, and for addresses that
  // are not permitted.
  absl::Status Evaluate(const EvaluationInput& input, const std::function<void(std::vector<Outcome>)>& take,
                        const std::atomic<bool>& cancelled) override;
  absl::StatusOr<DerivedList> DerivePackages(const EvaluationInput& input,
                                             const std::atomic<bool>& cancelled) override;
  void Release(const std::string& root) override;

  // What another program of Nix needs to evaluate the same within the same limits.
  struct Prepared {
    std::unique_ptr<RunFolder> folder;  // for its input; what the imports name is in it
    std::string driver_folder, roots;   // the latter for links to derivations
    std::vector<DriverRequest> imports;
    std::map<std::string, std::string> env;  // all that it gets
  };
  // Fails as Evaluate.
  absl::StatusOr<Prepared> Prepare(const EvaluationInput& input);
  // Of an outcome as it comes from an evaluator that writes derivations: one that is not there was made by
  // nobody, an attribute set is dressed up as it. And its message names files of the tree as the tree does, so that
  // it reads the same wherever the tree lies.
  void Mend(const std::string& tree, Outcome& outcome) const;
  // From garbage collection, while the process that made it still lives.
  absl::Status Keep(const std::string& root, const std::string& derivation) const;

 private:
  explicit NixEvaluator(Options options);
  struct Shared;
  // What one import of a matrix's tree costs, as its last evaluations had it.
  struct Learned {
    uint64_t import_memory = 90'000'000;  // bytes; the first guess is nixpkgs 19.09's
  };

  absl::Status PrepareStore() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status CheckInput(const EvaluationInput& input) const;
  // What all imports of a matrix have in common; its recipe and overlays are written to `folder`.
  absl::StatusOr<DriverRequest> CommonRequest(const EvaluationInput& input, const std::string& folder) const;
  // kDerivations: nothing but derivations is asked, none is written to the store, and refusals have no words.
  enum class Depth { kAll, kDerivations };
  absl::Status RunImports(const EvaluationInput& input, const std::string& folder, Depth depth,
                          std::vector<DriverRequest> imports,
                          const std::function<void(std::vector<Outcome>)>& take,
                          const std::atomic<bool>& cancelled);
  std::map<std::string, std::string> Environment(const EvaluationInput& input,
                                                 const std::string& folder) const;
  // The names to compare: with `on` those that are there, else only that the package set evaluates.
  absl::StatusOr<PackageNames> ListNames(const EvaluationInput& input, const std::string& folder,
                                         const DriverRequest& request,
                                         const std::atomic<bool>& cancelled) const;
  Learned LearnedOf(const std::string& matrix) ABSL_LOCKS_EXCLUDED(mu_);
  void Learn(const std::string& matrix, uint64_t peak, size_t imports) ABSL_LOCKS_EXCLUDED(mu_);
  // Processes that the budget has room for.
  size_t Processes(const Learned& learned) const;
  // Imports in one process before it is replaced.
  size_t ImportsInAProcess(const Learned& learned) const;

  // Evaluates shards until there is none left.
  void Work(Shared& shared, size_t worker);
  void WorkScattered(Shared& shared, size_t worker);
  // Those that the watch stopped, one after the other with nothing beside it.
  void WorkAlone(Shared& shared);
  absl::Status EvaluateShard(Shared& shared, const std::string& name, const std::vector<size_t>& numbers,
                             std::vector<DriverRequest> imports, size_t worker, bool alone);

  const Options options_;
  const SystemClock system_clock_;
  const Clock* const clock_;
  const GcRoots roots_;
  Mutex mu_;
  bool store_ready_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::string, Learned> learned_ ABSL_GUARDED_BY(mu_);  // by matrix
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_NIX_EVALUATOR_H_
