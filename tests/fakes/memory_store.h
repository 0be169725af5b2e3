// The record in memory: PostgresStore's twin, held to it by tests/conformance/state_store_test. What is
// recorded lives in a MemoryDatabase, so that a test can end one store, as a hydrantd's death does, and open
// the next.
#ifndef HYDRANT_TESTS_FAKES_MEMORY_STORE_H_
#define HYDRANT_TESTS_FAKES_MEMORY_STORE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/record/state_store.h"
#include "lib/base/mutex.h"
#include "tests/fakes/memory_tables.h"

namespace hydrant {

enum class CommitFault {
  kUnavailable,      // nothing recorded, and the caller knows it
  kUnknownRecorded,  // recorded, but the caller cannot know
  kUnknownLost,      // not recorded, and the caller cannot know
};

// Any thread.
class MemoryDatabase {
 public:
  // The next `count` commits with changes fail so, of whichever store; 0: no more.
  void FailNextCommits(int count, CommitFault fault);
  int64_t commits() const;  // that were recorded

 private:
  friend class MemoryStore;
  mutable Mutex mu_;
  MemoryTables tables_ ABSL_GUARDED_BY(mu_);
  const void* active_ ABSL_GUARDED_BY(mu_) = nullptr;  // the store that Load elected
  int faults_ ABSL_GUARDED_BY(mu_) = 0;
  CommitFault fault_ ABSL_GUARDED_BY(mu_) = CommitFault::kUnavailable;
  int64_t commits_ ABSL_GUARDED_BY(mu_) = 0;
};

class MemoryStore final : public StateStore {
 public:
  explicit MemoryStore(std::shared_ptr<MemoryDatabase> database = std::make_shared<MemoryDatabase>());
  ~MemoryStore() override;  // gives the lock up

  MemoryDatabase& database() { return *database_; }

  absl::StatusOr<Recorded> Load() override;
  absl::Status Commit(const Batch& batch) override;
  absl::StatusOr<std::vector<AttemptRecord>> Attempts(const AttemptSubject& subject, int limit) override;
  absl::StatusOr<AttemptRecord> FindAttempt(AttemptId id) override;
  absl::StatusOr<std::vector<EvaluationRecord>> Evaluations(std::string_view matrix, int limit) override;
  absl::StatusOr<std::vector<VariantRecord>> Variants(EvaluationId evaluation) override;
  absl::StatusOr<std::vector<AttemptCount>> CountAttempts() override;

 private:
  absl::Status CheckActive() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(database_->mu_);
  const std::shared_ptr<MemoryDatabase> database_;
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_MEMORY_STORE_H_
