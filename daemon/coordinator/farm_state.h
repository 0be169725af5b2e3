// All that the coordinator remembers, as plain values under its lock: rebuilt from the record at start and after any doubt.
// Knows no policy; what may follow is said by the tables of graph/ and lease/.
#ifndef HYDRANT_DAEMON_COORDINATOR_FARM_STATE_H_
#define HYDRANT_DAEMON_COORDINATOR_FARM_STATE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "daemon/evaluate/derivation_closure.h"
#include "daemon/graph/step_graph.h"
#include "daemon/lease/lease_table.h"
#include "daemon/lease/worker_registry.h"
#include "daemon/record/records.h"
#include "daemon/record/state_store.h"
#include "daemon/schedule/estimate.h"
#include "daemon/evaluate/variant_facts.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix.h"
#include "lib/nix/derivation.h"

namespace hydrant {

// A matrix's text and what it means; shared by the matrix and the evaluations that began with it.
struct Declared {
  MatrixTextRecord text;
  Matrix matrix;
  Expansion expansion;  // of a derived package list: without its packages
};

// What a matrix with a derived package list expands to, at one revision.
struct Derived {
  std::vector<std::string> packages;
  std::vector<std::string> notes;  // what a person should know of the list
  bool complete = true;            // whether other evaluations of that text and revision may take it for theirs
  Expansion expansion;
};

struct VariantEntry {
  VariantRecord record;
  std::shared_ptr<const VariantFacts> facts;  // of the record's text; null: nothing is known
  bool known = false;      // has its outcome
  bool required = false;   // by the gate
  bool published = false;  // every output is published or held upstream; never becomes false again
  std::optional<StepId> step, environment_step;
  std::vector<std::string> checks;  // keys, in the order of the matrix
};

struct EvaluationEntry {
  EvaluationRecord record;
  std::shared_ptr<const Declared> declared;
  std::shared_ptr<const Derived> derived;  // of a derived package list, once that is known
  std::vector<VariantEntry> variants;      // in the order of the matrix; those outside `only` are left out
  std::vector<std::string> unmatched;  // globs of the gate that select nothing in the whole matrix
  bool wanting = false;                // its steps are counted as wanted in the graph
  bool changed = true;                 // what its variants' states follow from moved since they were last looked at
  size_t unsettled = 0;                // place of a variant that was neither final nor waiting then
  bool reopened = false;               // it had settled before

  const Expansion& expansion() const { return derived != nullptr ? derived->expansion : declared->expansion; }
  // Its package list must be derived first; it has no variants before.
  bool lacks_packages() const { return declared->matrix.derived && derived == nullptr; }
};

// A variant of an evaluation, by its place in EvaluationEntry::variants.
struct VariantRef {
  EvaluationId evaluation;
  size_t place = 0;
};

struct CheckEntry {
  CheckRecord record;
  std::optional<StepId> output_step, environment_step;
  std::vector<VariantRef> users;
  absl::Time ready_since = absl::InfinitePast();
  std::set<std::string> avoid;  // workers where the farm failed it
};

// Why no connected worker could take some ready work: as a sentence, and in a word or two that many share.
struct Nobody {
  std::string why, kind;
};
struct Unplaceable {
  absl::Time since;
  std::shared_ptr<const Nobody> nobody;
};

// A publication that failed and is tried again.
struct Unpublished {
  int failures = 0;
  absl::Time not_before;
  std::string reason;
};

using DerivationEntry = LoadedDerivation;

struct FarmState {
  FarmState(absl::Duration lease, WorkerRegistry::Options workers) : leases(lease), workers(workers) {}

  std::map<std::string, MatrixRecord> matrices;
  std::map<std::string, std::shared_ptr<const Declared>> declared;  // by digest
  std::map<EvaluationId, EvaluationEntry> evaluations;
  StepGraph graph;
  absl::flat_hash_map<std::string, std::shared_ptr<const DerivationEntry>> derivations;  // of steps and their inputs
  std::map<std::string, CheckEntry> checks;  // by key
  absl::flat_hash_map<std::string, std::vector<std::string>> checks_of;  // output path -> keys
  absl::flat_hash_map<StepId, std::vector<VariantRef>> users;  // variants whose step or environment it is
  LeaseTable leases;
  WorkerRegistry workers;
  std::map<std::string, ChannelRecord> channels;
  Estimate estimate;

  absl::flat_hash_map<StepId, absl::Time> ready_since;
  // What no connected worker could take, and blocked steps with a waiting one below them: see waiting.h.
  absl::flat_hash_map<StepId, Unplaceable> step_unplaceable;
  absl::flat_hash_map<std::string, Unplaceable> check_unplaceable;
  absl::flat_hash_map<StepId, StepId> waits_for;
  absl::Time noted_at = absl::InfinitePast();
  absl::flat_hash_map<StepId, std::set<std::string>> avoid;  // workers where the farm failed a step

  // What is to be looked at, so that a change costs what it touches: filled by the functions below and by WantSteps.
  std::set<StepId> publish_due;
  absl::flat_hash_map<StepId, Unpublished> unpublished;
  std::set<std::string> checks_due, ready_checks;

  std::set<AttemptId> renewed;            // leases renewed since that was last recorded
  std::set<std::string> unsaved_workers;  // their offers are not in the record

  EvaluationId last_evaluation;
  AttemptId last_attempt;
  LeaseToken last_token;
};

// The newest evaluation of a matrix, or of one of its branches; null when there is none.
EvaluationEntry* NewestEvaluation(FarmState& state, const std::string& matrix, const std::string& branch = "");
const EvaluationEntry* NewestEvaluation(const FarmState& state, const std::string& matrix, const std::string& branch = "");

// Everything again from the record. A text that no longer parses is an error.
struct FarmOptions {
  std::string system;  // stands in for an undeclared axis
  absl::Duration lease = absl::Seconds(20);
  WorkerRegistry::Options workers;
};
absl::StatusOr<std::unique_ptr<FarmState>> Restore(Recorded recorded, const FarmOptions& options, absl::Time now);

// What steps and checks took, from the record: `narinfos` say how large the outputs are.
void RestoreHistory(FarmState& state, const std::vector<Recorded::Observed>& steps,
                    const std::vector<Recorded::ObservedCheck>& checks, const std::vector<NarInfoRecord>& narinfos);

// Parses and expands.
absl::StatusOr<std::shared_ptr<const Declared>> Declare(MatrixTextRecord text, const std::string& system);
// The digest of everything in it but `digest`.
std::string DigestOf(const MatrixTextRecord& text);

// Fills in what the packages of a derived list expand to. InvalidArgument: there are none, or too many cells.
absl::StatusOr<std::shared_ptr<const Derived>> ExpandDerived(const Declared& declared, const std::string& system,
                                                             Derived derived);
// A list that an evaluation of that text derived at that revision; null: none did, or only in part.
std::shared_ptr<const Derived> FindDerived(const FarmState& state, const std::string& digest, const std::string& revision);
// The entries of an evaluation before any outcome: one per variant that `only` selects; impossible ones are known at once.
// None while it lacks its packages.
EvaluationEntry NewEvaluationEntry(EvaluationRecord record, std::shared_ptr<const Declared> declared,
                                   std::shared_ptr<const Derived> derived = nullptr);
// Counts the steps of its variants (but cancelled ones) as wanted in the graph, or no longer. Idempotent.
void WantSteps(FarmState& state, EvaluationEntry& evaluation, bool want);
// The same for one variant. Not idempotent.
void WantVariant(FarmState& state, const VariantEntry& variant, bool want);
// Links a variant that became known to its step and checks; creates check entries that are missing, and returns their records.
std::vector<CheckRecord> LinkVariant(FarmState& state, EvaluationEntry& evaluation, size_t place,
                                     const std::set<std::string>& gpu_architectures);
// As LinkVariant, to checks of the record only: which GPUs there were when they were made is not known any more.
void RelinkVariant(FarmState& state, EvaluationEntry& evaluation, size_t place);
// The architectures of all GPUs that any worker ever offered.
std::set<std::string> GpuArchitectures(const FarmState& state);
// The checks that the matrix of an evaluation asks of a variant of it, by the record's outputs: as they are made, wanted.
std::vector<CheckRecord> ChecksOf(const EvaluationEntry& evaluation, const VariantRecord& variant,
                                  const std::set<std::string>& gpu_architectures);
// Takes a variant's outcome back; it is neither linked nor wanted then.
void UnlinkVariant(FarmState& state, EvaluationEntry& evaluation, size_t place);

// To be called after a step or check moved.
void StepMoved(FarmState& state, StepId step, absl::Time now);
void CheckMoved(FarmState& state, const std::string& key);
void Touch(FarmState& state, const std::vector<VariantRef>& users);
// True while a variant of an evaluation that wants its steps asks for it.
bool IsWanted(const FarmState& state, const CheckEntry& check);

// True when a pre-build hook may look the .drv up, so that its closure must be in the worker's store (NixOS/nix#9272).
bool NeedsClosure(const nix::Derivation& derivation);
bool NeedsClosure(const std::set<std::string>& required_features);
// Each variant that a step, or what needs it, is for, with the step that is the variant's own. In no order.
void ForEachUser(const FarmState& state, StepId root,
                 const std::function<void(const EvaluationEntry&, const VariantEntry&, StepId own)>& take);
// kRetriedReady or kRetriedBlocked, by the state of its inputs.
StepEvent RetryEventOf(const StepGraph& graph, StepId step);
// "jaxlib-0.4.1", of a store path; "" when it is none.
std::string NameOfPath(std::string_view path);
// What a step is, from its parsed derivation.
StepSpec SpecOf(const std::string& path, const nix::Derivation& derivation);
// Store paths that must be valid before the step's builder starts: used outputs of input derivations, and sources.
absl::StatusOr<std::vector<std::string>> InputPathsOf(const FarmState& state, const nix::Derivation& derivation);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_FARM_STATE_H_
