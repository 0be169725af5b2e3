// Where every transition is recorded before memory moves: the durable truth. An interface; postgres_store is the real one,
// tests/fakes/memory_store its twin, and both pass tests/conformance/state_store_test.
#ifndef HYDRANT_DAEMON_RECORD_STATE_STORE_H_
#define HYDRANT_DAEMON_RECORD_STATE_STORE_H_

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/record/records.h"

namespace hydrant {

using Change = std::variant<SaveMatrix, CreateEvaluation, MoveEvaluation, SaveDerivedList, SaveVariants, SaveDerivations, CreateSteps, MoveSteps,
                            CreateChecks, MoveCheck, GrantLease, AdvanceAttempt, RenewLeases, EndAttempt, StageNarInfo,
                            PublishNarInfos, OpenNarInfos, MoveChannel, SaveWorker>;
using Batch = std::vector<Change>;

// All that a restart needs to go on.
struct Recorded {
  std::vector<MatrixRecord> matrices;
  std::vector<MatrixTextRecord> texts;           // of matrices and of the evaluations below
  std::vector<EvaluationRecord> evaluations;     // the newest 20 of each branch of each matrix, and all that are not final
  std::vector<DerivedListRecord> derived_lists;  // of those evaluations, by evaluation
  std::vector<VariantRecord> variants;           // of those evaluations, by (evaluation, ordinal)
  std::vector<DerivationRecord> derivations;     // of steps, of their inputs, and closures that travel
  std::vector<StepRecord> steps;
  std::vector<CheckRecord> checks;
  std::vector<AttemptRecord> live_attempts;
  std::vector<NarInfoRecord> narinfos;           // staged and published
  std::vector<ChannelRecord> channels;
  std::vector<WorkerRecord> workers;
  EvaluationId last_evaluation;                  // largest ids ever given
  AttemptId last_attempt;
  LeaseToken last_token;
  struct Observed { std::string derivation; absl::Duration building, cpu; };
  std::vector<Observed> durations;               // the newest 10,000 successful attempts of steps, newest first
  struct ObservedCheck { std::string key; absl::Duration running; };
  std::vector<ObservedCheck> check_durations;    // the same of checks
};

class StateStore {
 public:
  virtual ~StateStore() = default;
  // Unavailable: the database is away, try again. FailedPrecondition: another hydrantd is active on it.
  virtual absl::StatusOr<Recorded> Load() = 0;
  // All changes in one transaction, in order. OK: durable. FailedPrecondition names the change whose guard did not hold (or
  // says that another hydrantd is active, or that Load was not called), InvalidArgument the one that holds a text that cannot
  // be kept; nothing is recorded. Unavailable: nothing is recorded, unless IsUnknownCommit(status): then the connection was
  // lost while the commit was under way, and the caller must Load before it goes on. Any thread; concurrent calls are
  // serialised.
  virtual absl::Status Commit(const Batch& batch) = 0;

  // Newest first. `subject` of a step or check.
  virtual absl::StatusOr<std::vector<AttemptRecord>> Attempts(const AttemptSubject& subject, int limit) = 0;
  // NotFound when there is none.
  virtual absl::StatusOr<AttemptRecord> FindAttempt(AttemptId id) = 0;
  virtual absl::StatusOr<std::vector<EvaluationRecord>> Evaluations(std::string_view matrix, int limit) = 0;
  // For evaluations older than those that Load gives.
  virtual absl::StatusOr<std::vector<VariantRecord>> Variants(EvaluationId evaluation) = 0;
  // Attempts by (outcome, cause) since ever, for counters that survive a restart.
  struct AttemptCount { std::string outcome, cause; int64_t count = 0; };
  virtual absl::StatusOr<std::vector<AttemptCount>> CountAttempts() = 0;
};

// Whether a Commit that returned `status` may have been recorded: the mark is a payload of the status.
bool IsUnknownCommit(const absl::Status& status);
absl::Status UnknownCommit(std::string_view why);  // Unavailable, with the mark

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_STATE_STORE_H_
