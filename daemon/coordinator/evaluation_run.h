// One evaluation through source, evaluate, graph and presence: outcomes reach the coordinator slice by slice,
// while others still evaluate. Knows nothing of leases or of who asked.
#ifndef HYDRANT_DAEMON_COORDINATOR_EVALUATION_RUN_H_
#define HYDRANT_DAEMON_COORDINATOR_EVALUATION_RUN_H_

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/cache/catalogue.h"
#include "daemon/cache/store_import.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/evaluation_turn.h"
#include "daemon/coordinator/plan.h"
#include "daemon/evaluate/derivation_closure.h"
#include "daemon/evaluate/evaluator.h"
#include "daemon/presence/presence.h"
#include "daemon/source/source.h"
#include "lib/base/mutex.h"

namespace hydrant {

class EvaluationRun {
 public:
  struct Options {
    Coordinator& coordinator;
    TreeSource& source;
    Evaluator& evaluator;
    DerivationClosure& closure;
    Presence& presence;
    Catalogue& catalogue;
    StoreImport& import;
  };
  explicit EvaluationRun(Options options) : options_(options) {}

  // Before the first evaluation, once the coordinator has read the record: what an evaluation would look at
  // of the recorded derivations is looked at now, when nobody waits for it. True when that is done, by this
  // call or before.
  bool Recall() ABSL_LOCKS_EXCLUDED(recall_mu_);
  // Recalls, then runs requested evaluations, one after the other, until `stop`. Several threads may serve:
  // they fetch trees side by side, so that one that hangs holds up nobody, and evaluate one at a time.
  void Serve(const std::atomic<bool>& stop);
  // Runs one to its end; what went wrong is told to the coordinator.
  void Run(const EvaluationTask& task, const std::atomic<bool>& stop);
  // At the head of the first branch unless `asked` says another point (BranchesOf's errors). With `extended`,
  // the same matrix with more values, also what those would cost: both in one evaluation. Cancelled when
  // `cancelled` became true. Any thread, beside Serve.
  absl::StatusOr<PlanView> Plan(const Declared& declared, const SourcePoint& asked,
                                const std::atomic<bool>& cancelled, const Declared* extended = nullptr);

 private:
  // The next one that is requested; nothing when `stop`. One thread waits for it at a time.
  std::optional<EvaluationTask> Next(const std::atomic<bool>& stop) ABSL_LOCKS_EXCLUDED(next_mu_, recall_mu_);
  absl::Status Evaluate(const EvaluationTask& task, const std::string& root, const std::atomic<bool>& stop);
  // Where the matrix's package list is derived and not known at this tree yet: derives it.
  absl::Status DerivePackages(const EvaluationTask& task, const EvaluationInput& input,
                              const std::atomic<bool>& stop, const std::atomic<bool>& cancelled);
  // Of a derived package list: what is recorded of the revision, else derived anew and not recorded.
  absl::StatusOr<std::shared_ptr<const Derived>> DerivedAt(const Declared& declared, const Tree& tree,
                                                           const std::string& root,
                                                           const std::atomic<bool>& cancelled);
  absl::StatusOr<PlanView> PlanAt(const Declared& declared, const Declared* extended, const Tree& tree,
                                  const std::string& root, const std::atomic<bool>& cancelled);
  // Says it until the record hears it, or `stop`, or for as often as `tries` (0: without end).
  absl::Status Insist(const std::atomic<bool>& stop, int tries, const std::function<absl::Status()>& say);
  // Derivations that one evaluation brought to the coordinator already; those that it has walked over have
  // their steps there.
  struct Brought {
    DerivationMarks derivations, walked;
  };
  // Brings some outcomes to the coordinator, with what they need.
  absl::Status Deliver(const EvaluationTask& task, std::vector<Outcome> outcomes, Brought& brought,
                       const std::atomic<bool>& stop);
  // Unless its derivations with all that they need can be read and built.
  void RefuseUnbuildable(Outcome& outcome);
  // What these need but for what was brought; a derivation that cannot be read makes its outcome unknown, one that
  // cannot be built a refusal.
  absl::StatusOr<LinkedClosure> LinkBuildable(std::vector<Outcome>& outcomes, const Brought& brought);
  struct Completed {
    OutcomeBatch batch;
    std::set<std::string> sources;  // that must be in our cache before its steps are
  };
  // Derivations, steps and presence for some outcomes, but for the steps that were walked over before; marks
  // what it brings.
  Completed Complete(std::vector<Outcome> outcomes, Brought& brought);
  absl::Status ImportSources(const std::set<std::string>& sources);
  // What other caches say of what builds would fetch; they were asked for it just now, and remember.
  void SizeDownloads(const OutcomeBatch& batch, PlanBasis& basis);
  void Release(const std::string& root);

  const Options options_;
  Mutex import_mu_;  // StoreImport is for one thread
  Mutex next_mu_;    // before recall_mu_
  Mutex recall_mu_;
  bool recalled_ ABSL_GUARDED_BY(recall_mu_) = false;
  EvaluationTurn turn_;
};

// What presence ever found upstream, so that whoever must not wait for the network can know it.
class UpstreamMemory final : public Presence {
 public:
  explicit UpstreamMemory(Presence& presence) : presence_(presence) {}
  std::map<std::string, Answer> Ask(const std::vector<std::string>& store_paths) override;
  void Follow(const std::vector<std::string>& store_paths, const Onward& onward) override;
  // From memory. Any thread.
  bool Holds(const std::string& store_path) const;

 private:
  Presence& presence_;
  mutable Mutex mu_;
  std::set<std::string> held_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_EVALUATION_RUN_H_
