// The one door: every change of the farm's state goes through here. Lock, expire what is due, decide a batch, unlock, record it,
// lock, advance, announce. It holds no policy: tables (graph, lease), scheduler, gate and publisher decide; it keeps the order.
// Knows nothing of gRPC, HTTP, SQL or Nix.
//
// Two locks: door_ serialises changes and is held while the record commits; mu_ guards memory and is held briefly, so that
// readers never wait for the database. When a commit's fate is not known, everything is read again from the record, by the
// same function that a restart uses.
#ifndef HYDRANT_DAEMON_COORDINATOR_COORDINATOR_H_
#define HYDRANT_DAEMON_COORDINATOR_COORDINATOR_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/cache/catalogue.h"
#include "daemon/cache/publisher.h"
#include "daemon/coordinator/branches.h"
#include "daemon/coordinator/evaluation_audit.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/coordinator/unknown_commit_watch.h"
#include "daemon/coordinator/variant_state.h"
#include "daemon/coordinator/views.h"
#include "daemon/evaluate/derivation_closure.h"
#include "daemon/evaluate/evaluator.h"
#include "daemon/record/state_store.h"
#include "daemon/source/source.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/matrix/licence.h"

namespace hydrant {

// Told of what happened, for metrics; called with no lock of ours held but the door. Must not call back.
class FarmObserver {
 public:
  virtual ~FarmObserver() = default;
  virtual void LeaseGranted(absl::Duration) {}  // since it was ready
  virtual void LeaseExpired() {}
  virtual void AttemptEnded(const AttemptResult&) {}
  virtual void CheckDecided(const CheckRecord&) {}
  virtual void Evaluated(absl::Duration) {}  // from request to settled
};

// What an evaluation is asked to be.
struct TriggerOrder {
  std::string matrix;
  std::string only;  // glob; empty: all variants
  int priority = 0;  // added to the matrix's
  SourcePoint point;
};

class Coordinator {
 public:
  struct Options {
    StateStore& store;
    Catalogue& catalogue;
    Publisher& publisher;
    const Clock& clock;
    FarmOptions farm;
    absl::Duration waiting_after = absl::Seconds(60);
    int max_attempts = 5;                            // of a step or check that the farm failed
    absl::Duration backoff = absl::Seconds(5);       // first pause; doubles, at most an hour
    FarmObserver* observer = nullptr;
    UnknownCommitWatch* commits = nullptr;           // of all who commit; then `store` is the same
  };
  explicit Coordinator(Options options);

  // Reads the record. Unavailable: try again. Before anything else.
  absl::Status Start() ABSL_LOCKS_EXCLUDED(door_, mu_);
  // Does what is due: expiries, back-offs, waiting, publications that failed. Call it a few times a second.
  void Tick() ABSL_LOCKS_EXCLUDED(door_, mu_);

  // ---- Matrices and evaluations
  absl::StatusOr<ApplyResult> Apply(MatrixTextRecord text, bool from_folder) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // Matrices of the folder that are not among `names` any more can be applied over from now on; they stay.
  absl::Status KeepOfFolder(const std::set<std::string>& names) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // An evaluation for each of BranchesOf, in the order of the matrix, all or none; its errors. InvalidArgument when `only`
  // matches no variant.
  absl::StatusOr<std::vector<EvaluationRecord>> Trigger(const TriggerOrder& order) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // The requested evaluation of highest priority, now evaluating; nothing when there is none.
  absl::StatusOr<std::optional<EvaluationTask>> TakeRequested() ABSL_LOCKS_EXCLUDED(door_, mu_);
  // What is evaluated. An evaluation that begins again at another revision forgets the outcomes of the one before.
  absl::Status SetRevision(EvaluationId id, const std::string& revision) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // Whether its package list must be derived now: it is not known of an earlier evaluation of that text at its revision.
  absl::StatusOr<bool> LacksPackages(EvaluationId id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Its derived package list, from which it gets its variants. InvalidArgument: nothing is in it, or too much.
  absl::Status SetPackages(EvaluationId id, const DerivedList& list) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // What an evaluation expands to. Never null; without its packages while it lacks them.
  absl::StatusOr<std::shared_ptr<const Expansion>> ExpansionOf(EvaluationId id) const ABSL_LOCKS_EXCLUDED(mu_);
  // A matrix with a derived package list, as SetPackages has it; for a plan.
  absl::StatusOr<std::shared_ptr<const Derived>> Expand(const Declared& declared, DerivedList list) const;
  // See FindDerived.
  std::shared_ptr<const Derived> DerivedOf(const std::string& digest, const std::string& revision) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // The variants that have no outcome yet: indices into its expansion.
  absl::StatusOr<std::vector<size_t>> UnknownVariants(EvaluationId id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Outcomes of some variants, the derivations that they need (inputs first) and which of those a cache holds.
  absl::Status AddOutcomes(EvaluationId id, const OutcomeBatch& batch) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // The evaluator is through; not OK: it could not evaluate (variants without an outcome are then unknown).
  absl::Status FinishEvaluation(EvaluationId id, const absl::Status& status) ABSL_LOCKS_EXCLUDED(door_, mu_);
  bool IsCancelled(EvaluationId id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Derivations of evaluations to come, inputs before those that use them: what the consistency rules see in each of them is
  // then known.
  void LookAt(const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations) ABSL_LOCKS_EXCLUDED(door_, mu_);

  // ---- Workers
  absl::StatusOr<SyncReply> Synchronize(const SyncRequest& request) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // As Synchronize, but for a call that is held: what is new for it by now. Changes nothing.
  absl::StatusOr<SyncReply> PendingFor(const SyncRequest& request) const ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status ReportStage(AttemptId attempt, LeaseToken token, AttemptStage stage) ABSL_LOCKS_EXCLUDED(door_, mu_);
  absl::Status ReportEnd(AttemptId attempt, LeaseToken token, const ReportedEnd& end) ABSL_LOCKS_EXCLUDED(door_, mu_);
  // `path` empty: any live lease will do; else it must be an output of the attempt's derivation.
  absl::Status MayUpload(AttemptId attempt, LeaseToken token, std::string_view path) const ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status CheckLease(AttemptId attempt, LeaseToken token) const ABSL_LOCKS_EXCLUDED(mu_);
  // The attempt's .drv closure, inputs first, without those in `have`.
  absl::StatusOr<std::vector<DerivationFileView>> DerivationsOf(AttemptId attempt, LeaseToken token,
                                                                const std::set<std::string>& have) const
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Drain(const std::string& worker, bool drain) ABSL_LOCKS_EXCLUDED(door_, mu_);

  // ---- Users
  absl::StatusOr<CancelResult> Cancel(const Selector& selector) ABSL_LOCKS_EXCLUDED(door_, mu_);
  absl::StatusOr<RetryResult> Retry(const Selector& selector, const std::string& cause) ABSL_LOCKS_EXCLUDED(door_, mu_);
  std::vector<MatrixView> Matrices() const ABSL_LOCKS_EXCLUDED(mu_);
  // Without an id the newest of the matrix, or of its branch `branch`.
  absl::StatusOr<GridView> Grid(const std::string& matrix, EvaluationId id, const std::string& branch = "") const
      ABSL_LOCKS_EXCLUDED(mu_);
  // Newest first, at most 200; empty: of every matrix, of every branch.
  absl::StatusOr<std::vector<EvaluationRecord>> Evaluations(const std::string& matrix, const std::string& branch = "") const
      ABSL_LOCKS_EXCLUDED(mu_);
  // True when each evaluation has a private one among the variants that it makes; where it makes none, unless its outputs,
  // or all that is, are public.
  bool MadeInPrivate(const std::string& derivation) const ABSL_LOCKS_EXCLUDED(mu_);
  // A variant without a matrix or an id is looked up in the newest evaluation of each matrix, or of its branch `branch`.
  absl::StatusOr<ExplainView> Explain(const std::string& address, EvaluationId id, const std::string& branch = "") const
      ABSL_LOCKS_EXCLUDED(mu_);
  // The attempt that an address's log is of: the live one, else the last.
  absl::StatusOr<AttemptRecord> AttemptOf(const std::string& address, EvaluationId id, const std::string& branch = "") const
      ABSL_LOCKS_EXCLUDED(mu_);
  // The last successful attempt of a .drv path, else the last.
  absl::StatusOr<AttemptId> LogOf(const std::string& derivation) const ABSL_LOCKS_EXCLUDED(mu_);
  bool IsLive(AttemptId attempt) const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<WorkerView> Workers() const ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<ChannelRecord> Channels() const ABSL_LOCKS_EXCLUDED(mu_);
  FarmTotals Totals() const ABSL_LOCKS_EXCLUDED(mu_);
  // Which of these derivations have a step, and in what state: for a plan.
  std::map<std::string, StepState> StatesOf(const std::vector<std::string>& derivations) const ABSL_LOCKS_EXCLUDED(mu_);
  // What a plan of these outcomes needs to know of the farm as it is now.
  PlanBasis BasisOf(const OutcomeBatch& batch) const ABSL_LOCKS_EXCLUDED(mu_);
  // Of each path what is in the record; null: it is not there.
  std::vector<std::shared_ptr<const DerivationEntry>> RecordedDerivations(const std::vector<std::string>& derivations) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // All of them, in no order.
  std::vector<std::shared_ptr<const DerivationEntry>> RecordedDerivations() const ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<const Declared> DeclaredOf(const std::string& matrix) const ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Announcements: grows with every change.
  uint64_t Version() const ABSL_LOCKS_EXCLUDED(mu_);
  // Returns at once when the version is not `seen`, else at the next change or after `timeout`; the version then.
  uint64_t AwaitChange(uint64_t seen, absl::Duration timeout) const ABSL_LOCKS_EXCLUDED(mu_);
  // False after an error of the record until it answered again.
  bool RecordAnswers() const ABSL_LOCKS_EXCLUDED(mu_);
  // Unavailable until the record was read once: before that, nothing here says anything about the farm.
  absl::Status Ready() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using Moves = std::vector<StepMove>;
  struct Decision;  // a batch and what to do in memory once it is recorded

  // Memory as the record has it. Unavailable until it can be read.
  absl::Status Fresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Reload() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status ReadRecord() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  void FillCatalogue(std::vector<NarInfoRecord> records) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  // What the record does not say, of a state made from it.
  void Resume(FarmState& state) const;
  // What an older daemon, or a commit of unknown fate, left half done.
  absl::Status Mend() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Record(const Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  // Records, applies, announces.
  absl::Status Carry(Decision decision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  // What follows from the state as it is, until nothing does. An error is logged; the next tick tries again.
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  bool AdvanceSteps() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  bool AdvanceChecks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  // The derivations that may be published now, with their outputs.
  struct Publication {
    std::vector<std::string> roots;
    PublishingTiers tiers;
  };
  std::map<StepId, Publication> Publishable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static Tier TierOf(const EvaluationEntry& evaluation, const VariantEntry& variant);
  // Evaluations by which what these variants share is private: a tree that says two things of one derivation is
  // taken at the stricter.
  std::set<EvaluationId> PrivateIn(const std::vector<VariantRef>& users) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A variant that wants the step and whose checks passed: of an evaluation by which it is public where there is any.
  struct PassedVariant {
    VariantRef variant;
    Tier tier;
  };
  std::optional<PassedVariant> Passed(StepId step) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of a derivation that makes no variant.
  bool NeededInPrivate(const std::string& derivation) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // True when an output is published, but held.
  bool HoldsBack(const VariantEntry& variant) const;
  void NotePublished(StepId step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteUnpublished(StepId step, const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool PublishPassed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  bool SettleEvaluations() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  bool Dispatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  void ExpireLeases() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  // The offers of workers whose news is not recorded yet.
  absl::Status RecordWorkers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  void RecordRenewals() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  void NoteUnplaceable() ABSL_LOCKS_EXCLUDED(mu_);
  void Announce() ABSL_LOCKS_EXCLUDED(mu_);

  absl::Status PlanInto(Decision& decision, StepId step, StepEvent event, StepDetail detail) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The same for several, one after the other; none when one of them is refused.
  absl::Status PlanAllInto(Decision& decision, const std::vector<StepHappening>& happenings) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PlanSettled(Decision& decision, EvaluationEntry& evaluation, std::map<std::string, EvaluationId>& channels) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // How an attempt ended, and whether its worker is to blame when the farm is.
  struct End {
    std::string lease_end;  // released expired revoked
    AttemptResult result;
    std::optional<OfferedGpu> gpu;
    bool blames_worker = true;
  };
  absl::Status PlanEnd(Decision& decision, const Lease& lease, End end) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status PlanStepEnd(Decision& decision, const Lease& lease, const AttemptResult& result) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status PlanCheckEnd(Decision& decision, const Lease& lease, const AttemptResult& result,
                            const std::optional<OfferedGpu>& gpu) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A worker's word: that it is there, what it offers and holds. True when that is news.
  absl::StatusOr<bool> See(const SyncRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Leases that a worker forgot or never will hold; `why` for their attempts.
  absl::Status EndForgotten(const std::vector<Lease>& leases, const std::string& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  void PlanPlacements(Decision& decision) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of its outputs' NARs in our cache; 0 when one is not there.
  int64_t OutputBytes(StepId step) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool OutputsHeld(StepId step, std::string* missing) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Published(const FarmState& state, const VariantEntry& variant) const;
  absl::StatusOr<Assignment> AssignmentOf(const Lease& lease) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Duration BackoffAfter(int failures) const;
  WaitingRule Waiting() const;
  absl::StatusOr<EvaluationEntry*> FindEvaluation(const std::string& matrix, EvaluationId id,
                                                  const std::string& branch = "") const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Loaded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status NoMatrix(const std::string& matrix) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What an address means: see proto FarmService.
  absl::StatusOr<Found> Find(const Selector& selector) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends what no open evaluation wants any more; how many steps and checks that were.
  absl::StatusOr<int64_t> CancelUnwanted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status CancelStep(StepId step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  void PlanRevoked(Decision& decision, const AttemptSubject& subject) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CancelEvaluation(EvaluationId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status CancelVariants(EvaluationId id, const std::set<int>& ordinals) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Steps and checks at fault in what was found, of that cause (empty: any).
  struct Faults {
    std::set<StepId> steps;
    std::set<std::string> checks;
    std::set<EvaluationId> evaluations;
    bool unknown = false;  // some variants are unknown to a dead evaluator
  };
  Faults FaultsOf(const Found& found, const std::string& cause) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status PlanRetry(Decision& decision, const Faults& faults) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  GridVariant ViewOf(const EvaluationEntry& evaluation, const VariantEntry& variant) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  RunningView ViewOf(const Lease& lease) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::map<std::string, int64_t> TotalsOf(const EvaluationEntry& evaluation) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<BranchView> BranchesIn(const std::string& name, const Matrix& matrix) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PlanOutcomes(Decision& decision, EvaluationEntry& evaluation, const OutcomeBatch& batch,
                    const EvaluationAudit& audit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // That of an evaluation that runs; made when it is asked for first.
  absl::StatusOr<EvaluationAudit*> AuditOf(EvaluationId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_) ABSL_LOCKS_EXCLUDED(mu_);
  // What is found once the variants of a slice are known together.
  void PlanFindings(Decision& decision, const EvaluationEntry& evaluation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_, mu_);
  // The steps that were not there before.
  absl::StatusOr<std::vector<StepId>> AddSteps(const OutcomeBatch& batch, Batch& record)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of a derived package list: the variants that it has at `revision`, none when the list is not known there.
  absl::Status PlanPackagesAt(Decision& decision, const EvaluationEntry& evaluation, const std::string& revision) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status PlanVariants(Decision& decision, const EvaluationEntry& evaluation, const std::string& revision,
                            std::shared_ptr<const Derived> derived) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PlanFinished(Decision& decision, const EvaluationEntry& evaluation, const absl::Status& status) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Steps and checks of earlier evaluations that a batch finds in a cache, or wants again; `old`: its steps that were there
  // before it.
  void PlanRevival(Decision& decision, EvaluationId id, const OutcomeBatch& batch, const std::vector<StepId>& old) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  mutable Mutex door_ ABSL_ACQUIRED_BEFORE(mu_);
  bool stale_ ABSL_GUARDED_BY(door_) = true;  // memory may differ from the record
  std::string reload_error_ ABSL_GUARDED_BY(door_);            // of the last try, so that it is logged once
  std::set<EvaluationId> evaluating_ ABSL_GUARDED_BY(door_);  // taken by an evaluator of this process
  std::map<EvaluationId, EvaluationAudit> audits_ ABSL_GUARDED_BY(door_);  // of those that have outcomes
  // What they judge by; kept, so that a second trigger takes nothing in.
  std::shared_ptr<ClosureAudit> audited_ ABSL_GUARDED_BY(door_) = std::make_shared<ClosureAudit>();

  mutable Mutex mu_;
  mutable CondVar changed_;
  std::unique_ptr<FarmState> state_ ABSL_GUARDED_BY(mu_) ABSL_PT_GUARDED_BY(mu_);
  uint64_t version_ ABSL_GUARDED_BY(mu_) = 1;
  uint64_t dispatched_ ABSL_GUARDED_BY(mu_) = 0;  // the version at which nothing was left to place
  bool record_answers_ ABSL_GUARDED_BY(mu_) = false;
  bool loaded_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_COORDINATOR_H_
