// The rows of the record, as values: what hydrantd must know again after a restart. Knows no SQL.
#ifndef HYDRANT_DAEMON_RECORD_RECORDS_H_
#define HYDRANT_DAEMON_RECORD_RECORDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/audit/finding.h"
#include "daemon/graph/check_state.h"
#include "daemon/graph/evaluation_state.h"
#include "daemon/graph/ids.h"
#include "daemon/graph/step_graph.h"
#include "daemon/graph/step_state.h"
#include "daemon/lease/lease_table.h"
#include "daemon/lease/worker_registry.h"

namespace hydrant {

// A matrix's text, kept once by its digest: evaluations refer to the text that they began with.
struct MatrixTextRecord {
  std::string digest;  // sha256, base32, of all below
  std::string toml;
  std::map<std::string, std::string> files;
  std::string directory, file;
};

struct MatrixRecord {
  std::string name;
  std::string digest;        // of its text
  bool from_folder = false;  // of `matrices`: cannot be applied over
  absl::Time applied_at;
};

struct EvaluationRecord {
  EvaluationId id;
  std::string matrix, digest;
  std::string only;      // glob; empty: all variants
  int priority = 0;
  EvaluationState state = EvaluationState::kRequested;
  std::string revision, message;
  std::string branch;           // of its git source; empty: of a path, or the default branch
  std::string wanted_revision;  // what was asked for instead of the branch's head; empty: nothing
  absl::Time requested_at, settled_at = absl::InfiniteFuture();  // InfiniteFuture: not yet
  bool gate_passed = false;
};

// The package list of an evaluation whose matrix derives it.
struct DerivedListRecord {
  EvaluationId evaluation;
  std::string revision;               // of the tree that it is of; another one than the evaluation's: of no use any more
  std::vector<std::string> packages;  // attribute paths, in order
  std::vector<std::string> notes;     // what a person should know of it
  bool complete = true;               // false: an evaluator died on some names
};

struct VariantRecord {
  EvaluationId evaluation;
  int ordinal = 0;           // place in the matrix, from 0
  std::string id, package, slice_json;
  Cause cause = Cause::kNone;  // why it has no derivation
  std::string message;
  std::string derivation;    // .drv path; empty: it has none
  std::map<std::string, std::string> outputs;
  std::string environment;   // .drv path of its Python environment for checks; empty: none
  std::string environment_output;
  std::string facts_json;    // what the evaluation learned of it, an object; empty: nothing is known
  std::string tier;          // public or private; empty: not known
  std::vector<Finding> findings;
};

struct DerivationRecord {
  std::string path;
  std::string aterm;
};

struct StepRecord {
  std::string derivation;
  StepState state = StepState::kBlocked;
  StepDetail detail;
};

struct CheckRecord {
  std::string key;             // digest of output, environment, name, command and wanted architecture
  std::string name, output_path, environment_path;
  std::vector<std::string> command;
  bool gpu = false;
  std::string wanted_architecture;  // "": any
  absl::Duration timeout = absl::Minutes(10);
  CheckState state = CheckState::kWanted;
  // The last decision.
  Cause cause = Cause::kNone;
  std::string message, architecture, driver;
  bool simulated = false;
  AttemptId attempt;
  int failed_attempts = 0;     // by the farm's fault
};

struct AttemptResult {
  std::string outcome;  // succeeded failed cancelled lost
  Cause cause = Cause::kNone;
  std::string message;
  absl::Duration fetching, building, pushing, cpu;
  int64_t max_memory_bytes = 0, log_bytes = 0;
  absl::Time ended_at;
};

// An attempt with its lease. Live while result.outcome is empty.
struct AttemptRecord {
  Lease lease;
  AttemptResult result;
};

enum class NarInfoState { kStaged, kPublished, kRetired };
// Whom a published path is served to.
enum class NarInfoTier {
  kPublic,   // anybody
  kPrivate,  // readers with a token: for its licence, or that of something it refers to
  kHeld,     // as private, but only until something public refers to it: nothing speaks against it
};

// One store path of our cache; its blob is verified before there is a row.
struct NarInfoRecord {
  std::string path;           // store path
  NarInfoState state = NarInfoState::kStaged;
  NarInfoTier tier = NarInfoTier::kPublic;  // means nothing while staged
  std::string compression, file_hash;  // base32 of the SHA-256 of the file
  int64_t file_size = 0;
  std::string nar_hash;       // base32
  int64_t nar_size = 0;
  std::vector<std::string> references;  // full paths, sorted
  std::string deriver, content_address;
  std::vector<std::string> signatures;  // of the release key and foreign known ones; empty while staged
  AttemptId attempt;          // 0: uploaded by hand or from the daemon's own store
  absl::Time staged_at, published_at = absl::InfiniteFuture();
};

struct ChannelRecord {
  std::string name, matrix;
  EvaluationId evaluation;
  std::string revision;
  absl::Time at;
};

struct WorkerRecord {
  std::string name;
  WorkerOffer offer;
  bool drained_by_operator = false, revoked = false;
  absl::Time seen_at;
};

// ---- Changes: each is one guarded statement, or a few, of one transaction.
//
// Beside the guards below, what must never be true is refused (FailedPrecondition) wherever it comes from:
//   a name, path or key that is empty; a row that names a matrix, text, evaluation, derivation, step or check that has no row;
//   an evaluation that is final without settled_at, or has settled_at and is not final;
//   a variant with both a derivation and a cause, or neither, or of a tier that is no such; a finding of no rule;
//   a step or check that failed without a cause, a check that passed with one;
//   an attempt of a step and a check, or of neither; one that failed without a cause, or succeeded with one;
//   a path staged with signatures or published_at, or published without either.
// Messages may hold any bytes: what is not UTF-8 is replaced. Other texts must be UTF-8 without NUL: InvalidArgument. Times are
// kept to the microsecond.

struct SaveMatrix { MatrixRecord matrix; MatrixTextRecord text; };
// Guard: its number is larger than any before.
struct CreateEvaluation { EvaluationRecord evaluation; };
// Guard: the evaluation is in `from`.
struct MoveEvaluation {
  EvaluationId id;
  EvaluationState from, to;
  std::string revision, message;
  absl::Time settled_at = absl::InfiniteFuture();
  bool gate_passed = false;
};
// Insert or replace by evaluation.
struct SaveDerivedList { DerivedListRecord list; };
// Insert or replace by (evaluation, id), findings included.
struct SaveVariants { std::vector<VariantRecord> variants; };
// Insert; those that are there stay (a .drv is immutable).
struct SaveDerivations { std::vector<DerivationRecord> derivations; };
// Insert; guard: none of them is there.
struct CreateSteps { std::vector<StepRecord> steps; };
// Guard: each step is in its `from`.
struct MoveSteps {
  struct Move { std::string derivation; StepState from, to; StepDetail detail; };
  std::vector<Move> moves;
};
// Insert; those that are there stay.
struct CreateChecks { std::vector<CheckRecord> checks; };
// Guard: the check is in `from`. All its other fields are replaced by `check`'s.
struct MoveCheck { CheckState from; CheckRecord check; };
// Insert attempt and lease; guards: no live lease of the same subject, or of the same GPU of the same worker; number and token
// are larger than any before.
struct GrantLease { Lease lease; };
// Guards: a live lease of that attempt and token, and a stage that is not behind its own. `at` InfinitePast: stage_at stays.
struct AdvanceAttempt {
  AttemptId attempt;
  LeaseToken token;
  AttemptStage stage;
  absl::Time at = absl::InfinitePast();
};
// No guard: attempts that ended meanwhile stay ended, and no lease becomes shorter.
struct RenewLeases { std::vector<AttemptId> attempts; absl::Time expires_at; };
// Guard: a live lease of that attempt and token. Ends attempt and lease (released, expired or revoked).
struct EndAttempt {
  AttemptId attempt;
  LeaseToken token;
  std::string lease_end;  // released, expired or revoked
  AttemptResult result;
};
// Insert; AlreadyExists-like guard: the path has no row, or a retired one.
struct StageNarInfo { NarInfoRecord info; };
// Guard: each is staged. All or none; signatures and tier are written with it.
struct PublishNarInfos {
  struct Entry { std::string path; std::vector<std::string> signatures; NarInfoTier tier = NarInfoTier::kPublic; };
  std::vector<Entry> entries;
  absl::Time at;
};
// Guard: each is published and held. All or none; they are public then.
struct OpenNarInfos { std::vector<std::string> paths; };
// Guard: the channel is at `from` (0: it has no row), and the new evaluation is newer.
struct MoveChannel { EvaluationId from; ChannelRecord channel; };
// Guard: a revoked worker stays revoked.
struct SaveWorker { WorkerRecord worker; };

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_RECORDS_H_
