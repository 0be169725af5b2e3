// A StateStore that remembers when the fate of a commit is not known, whoever made it, so that the coordinator reads the record
// again. All who commit share one.
#ifndef HYDRANT_DAEMON_COORDINATOR_UNKNOWN_COMMIT_WATCH_H_
#define HYDRANT_DAEMON_COORDINATOR_UNKNOWN_COMMIT_WATCH_H_

#include <atomic>
#include <string_view>
#include <vector>

#include "daemon/record/state_store.h"

namespace hydrant {

// Any thread.
class UnknownCommitWatch final : public StateStore {
 public:
  explicit UnknownCommitWatch(StateStore& store) : store_(store) {}

  // Whether there was one since the last call.
  bool Take() { return unknown_.exchange(false); }

  absl::StatusOr<Recorded> Load() override { return store_.Load(); }
  absl::Status Commit(const Batch& batch) override {
    absl::Status status = store_.Commit(batch);
    if (IsUnknownCommit(status)) unknown_ = true;
    return status;
  }
  absl::StatusOr<std::vector<AttemptRecord>> Attempts(const AttemptSubject& subject, int limit) override {
    return store_.Attempts(subject, limit);
  }
  absl::StatusOr<AttemptRecord> FindAttempt(AttemptId id) override { return store_.FindAttempt(id); }
  absl::StatusOr<std::vector<EvaluationRecord>> Evaluations(std::string_view matrix, int limit) override {
    return store_.Evaluations(matrix, limit);
  }
  absl::StatusOr<std::vector<VariantRecord>> Variants(EvaluationId evaluation) override {
    return store_.Variants(evaluation);
  }
  absl::StatusOr<std::vector<AttemptCount>> CountAttempts() override { return store_.CountAttempts(); }

 private:
  StateStore& store_;
  std::atomic<bool> unknown_ = false;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_UNKNOWN_COMMIT_WATCH_H_
