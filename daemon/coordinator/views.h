// What the coordinator takes and gives, as values: neither protobuf nor rows. Knows nothing of how they are shown.
#ifndef HYDRANT_DAEMON_COORDINATOR_VIEWS_H_
#define HYDRANT_DAEMON_COORDINATOR_VIEWS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "daemon/audit/hydra_policy.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/coordinator/variant_state.h"
#include "daemon/evaluate/derivation_closure.h"
#include "daemon/evaluate/evaluator.h"
#include "daemon/record/records.h"
#include "daemon/schedule/estimate.h"
#include "daemon/schedule/forecast.h"
#include "daemon/source/source.h"

namespace hydrant {

struct ApplyResult {
  std::string name;
  int64_t variants = 0;
  bool replaced = false;
};

// An evaluation to be run.
struct EvaluationTask {
  EvaluationId id;
  int priority = 0;
  std::shared_ptr<const Declared> declared;
  SourcePoint point;
  std::vector<size_t> variants;  // indices into its expansion's that need an evaluator; see Coordinator::LacksPackages
};

struct OutcomeBatch {
  std::vector<Outcome> outcomes;
  std::vector<std::shared_ptr<const LoadedDerivation>> derivations;  // inputs before those that use them
  absl::flat_hash_set<std::string> steps;  // those of `derivations` that get a step: not pruned by presence
  // .drv path -> "ours" or the URL of the cache that has all its outputs
  absl::flat_hash_map<std::string, std::string> held;
};

// What the farm knows that a plan rests on.
struct PlanBasis {
  std::map<std::string, StepState> states;    // of the steps that there are already
  std::map<std::string, StepDetail> failures; // of those of them that failed, or whose dependency did
  std::set<std::string> decided_checks;       // keys: they are not run again
  std::set<std::string> gpu_architectures;
  std::map<std::string, int64_t> file_sizes;  // of outputs that a cache holds, compressed; where it says
  Estimate history;
  std::vector<WorkerOffer> workers;           // those that are connected and take work
  std::vector<Backlog> backlog;               // what they have or would be given before anything new
};

struct HeldLease {
  AttemptId attempt;
  LeaseToken token;
};

struct SyncRequest {
  std::string name, instance;
  WorkerOffer offer;
  std::vector<HeldLease> held;
  bool draining = false, leaving = false;
};

// What to do, for one lease.
struct Assignment {
  Lease lease;
  // Of a step; null for a check.
  std::shared_ptr<const DerivationEntry> derivation;
  std::vector<std::string> input_paths;
  bool needs_closure = false;
  // Of a check.
  std::optional<CheckRecord> check;
  Limits limits;
};

struct SyncReply {
  std::vector<Assignment> assignments;
  std::vector<AttemptId> revoked;
  bool draining = false;
};

struct ReportedEnd {
  AttemptResult result;  // outcome and ended_at are ours to say
  std::optional<OfferedGpu> gpu;
};

struct DerivationFileView {
  std::string path, aterm;
  std::vector<std::string> references;
};

// What Cancel and Retry are about.
struct Selector {
  std::string address;  // variant, glob, .drv path; empty: all of the evaluation
  std::string matrix;
  EvaluationId evaluation;
  std::string branch;  // its newest evaluation; empty: any
};

struct CancelResult {
  int64_t cancelled = 0;    // steps and checks that nobody else wants
  EvaluationId evaluation;  // of which all or some variants are cancelled; none: a step by itself
  int64_t variants = 0;     // of it; 0: all
};

struct RetryResult {
  int64_t retried = 0;
  EvaluationId evaluation;  // asked for because some variants were unknown
};

// What an address means.
struct Found {
  EvaluationEntry* evaluation = nullptr;
  std::vector<VariantEntry*> variants;
  std::optional<StepId> step;
};

struct RunningView {
  Lease lease;
  std::string what;
};

struct GridVariant {
  VariantRecord record;
  VariantView view;
  bool required = false;
  std::shared_ptr<const VariantFacts> facts;  // null: nothing is known
  HydraVerdict hydra;
};

struct GridView {
  EvaluationRecord evaluation;
  std::vector<std::string> notes;  // of its package list
  std::vector<GridVariant> variants;
  std::map<std::string, int64_t> totals;
  std::vector<RunningView> running;
};

// The newest evaluation of one branch.
struct BranchView {
  std::string branch;
  std::optional<EvaluationRecord> evaluation;
  std::map<std::string, int64_t> totals;
};

struct MatrixView {
  std::string name, reason;
  int64_t variants = 0;
  std::optional<EvaluationRecord> evaluation;
  std::map<std::string, int64_t> totals;
  std::vector<BranchView> branches;  // in its order; none where it names less than two
};

struct ExplainView {
  std::optional<GridVariant> variant;
  std::string derivation, step_state, reason;
  std::vector<std::string> chain, waits_for;
  std::vector<std::pair<std::string, std::string>> workers;  // name, first rule that it fails ("" none)
  std::vector<AttemptRecord> attempts;
  std::vector<std::string> shared_with;  // other variants of the evaluation with the same derivation, at most 20
  int64_t shared_with_count = 0;         // all of them
};

struct WorkerView {
  Worker worker;
  int busy_slots = 0;
  std::vector<RunningView> running;
};

// Figures of the whole farm, for metrics.
struct FarmTotals {
  std::map<std::string, std::map<std::string, int64_t>> variants;  // matrix -> state -> count, newest evaluation of each branch
  std::array<int64_t, kStepStateCount> steps{};
  std::map<std::string, int64_t> waiting;                          // what is lacking -> steps and checks
  std::map<std::string, int64_t> workers;                          // state -> count
  std::map<std::string, std::pair<int64_t, int64_t>> slots;        // worker -> busy, free
  struct Gpus { std::string architecture, state; bool simulated; int64_t count; };
  std::vector<Gpus> gpus;
  std::map<std::string, std::map<std::string, int64_t>> findings;  // matrix -> rule -> count, newest evaluations
  std::map<std::string, absl::Time> evaluated_at;                  // matrix -> newest settled evaluation
  std::map<std::string, absl::Time> channel_lag_since;             // channel -> since when it is behind; InfiniteFuture: not
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_VIEWS_H_
