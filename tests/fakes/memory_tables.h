// The record's tables as maps, with the guards and constraints of daemon/record's SQL. No lock, no sessions.
#ifndef HYDRANT_TESTS_FAKES_MEMORY_TABLES_H_
#define HYDRANT_TESTS_FAKES_MEMORY_TABLES_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/record/state_store.h"

namespace hydrant {

class MemoryTables {
 public:
  // All changes or, when one is refused, none.
  absl::Status Commit(const Batch& batch);

  Recorded Load() const;
  std::vector<AttemptRecord> Attempts(const AttemptSubject& subject, int limit) const;
  const AttemptRecord* FindAttempt(AttemptId id) const;
  std::vector<EvaluationRecord> Evaluations(std::string_view matrix, int limit) const;
  std::vector<VariantRecord> Variants(EvaluationId evaluation) const;
  std::vector<StateStore::AttemptCount> CountAttempts() const;

 private:
  absl::Status Apply(const SaveMatrix& change);
  absl::Status Apply(const CreateEvaluation& change);
  absl::Status Apply(const MoveEvaluation& change);
  absl::Status Apply(const SaveDerivedList& change);
  absl::Status Apply(const SaveVariants& change);
  absl::Status Apply(const SaveDerivations& change);
  absl::Status Apply(const CreateSteps& change);
  absl::Status Apply(const MoveSteps& change);
  absl::Status Apply(const CreateChecks& change);
  absl::Status Apply(const MoveCheck& change);
  absl::Status Apply(const GrantLease& change);
  absl::Status Apply(const AdvanceAttempt& change);
  absl::Status Apply(const RenewLeases& change);
  absl::Status Apply(const EndAttempt& change);
  absl::Status Apply(const StageNarInfo& change);
  absl::Status Apply(const PublishNarInfos& change);
  absl::Status Apply(const OpenNarInfos& change);
  absl::Status Apply(const MoveChannel& change);
  absl::Status Apply(const SaveWorker& change);

  // The only ways to write: what was there before is put back when the batch is refused.
  template <class Key, class Value>
  void Put(std::map<Key, Value>& table, const Key& key, Value value);
  template <class Value>
  void Set(Value& place, Value value);
  const AttemptRecord* FindLive(AttemptId attempt, LeaseToken token) const;

  std::map<std::string, MatrixRecord> matrices_;
  std::map<std::string, MatrixTextRecord> texts_;
  std::map<EvaluationId, EvaluationRecord> evaluations_;
  std::map<EvaluationId, DerivedListRecord> derived_lists_;
  std::map<std::pair<EvaluationId, std::string>, VariantRecord> variants_;
  std::map<std::string, DerivationRecord> derivations_;
  std::map<std::string, StepRecord> steps_;
  std::map<std::string, CheckRecord> checks_;
  std::map<AttemptId, AttemptRecord> attempts_;
  std::map<AttemptSubject, AttemptId> live_;  // 0: none
  std::map<std::string, NarInfoRecord> narinfos_;
  std::map<std::string, ChannelRecord> channels_;
  std::map<std::string, WorkerRecord> workers_;
  EvaluationId last_evaluation_;
  AttemptId last_attempt_;
  LeaseToken last_token_;
  std::vector<std::function<void()>> undo_;
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_MEMORY_TABLES_H_
