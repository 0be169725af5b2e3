#include "tests/fakes/memory_store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {

void MemoryDatabase::FailNextCommits(int count, CommitFault fault) {
  MutexLock lock(mu_);
  faults_ = count;
  fault_ = fault;
}

int64_t MemoryDatabase::commits() const {
  MutexLock lock(mu_);
  return commits_;
}

MemoryStore::MemoryStore(std::shared_ptr<MemoryDatabase> database) : database_(std::move(database)) {}

MemoryStore::~MemoryStore() {
  MutexLock lock(database_->mu_);
  if (database_->active_ == this) database_->active_ = nullptr;
}

absl::Status MemoryStore::CheckActive() const {
  if (database_->active_ == this) return absl::OkStatus();
  return absl::FailedPreconditionError("Load was not called before");
}

absl::StatusOr<Recorded> MemoryStore::Load() {
  MutexLock lock(database_->mu_);
  if (database_->active_ != nullptr && database_->active_ != this) {
    return absl::FailedPreconditionError("another hydrantd is active (in this process)");
  }
  database_->active_ = this;
  return database_->tables_.Load();
}

absl::Status MemoryStore::Commit(const Batch& batch) {
  MutexLock lock(database_->mu_);
  HYDRANT_RETURN_IF_ERROR(CheckActive());
  if (batch.empty()) return absl::OkStatus();
  const bool fails = database_->faults_ > 0;
  if (fails) --database_->faults_;
  if (fails && database_->fault_ == CommitFault::kUnavailable) {
    return absl::UnavailableError("nothing recorded: the test said so");
  }
  if (fails && database_->fault_ == CommitFault::kUnknownLost) return UnknownCommit("the test said so");
  HYDRANT_RETURN_IF_ERROR(database_->tables_.Commit(batch));
  ++database_->commits_;
  return fails ? UnknownCommit("the test said so") : absl::OkStatus();
}

absl::StatusOr<std::vector<AttemptRecord>> MemoryStore::Attempts(const AttemptSubject& subject, int limit) {
  MutexLock lock(database_->mu_);
  HYDRANT_RETURN_IF_ERROR(CheckActive());
  return database_->tables_.Attempts(subject, limit);
}

absl::StatusOr<AttemptRecord> MemoryStore::FindAttempt(AttemptId id) {
  MutexLock lock(database_->mu_);
  HYDRANT_RETURN_IF_ERROR(CheckActive());
  if (const AttemptRecord* found = database_->tables_.FindAttempt(id)) return *found;
  return absl::NotFoundError(absl::StrCat("there is no attempt ", id.value));
}

absl::StatusOr<std::vector<EvaluationRecord>> MemoryStore::Evaluations(std::string_view matrix, int limit) {
  MutexLock lock(database_->mu_);
  HYDRANT_RETURN_IF_ERROR(CheckActive());
  return database_->tables_.Evaluations(matrix, limit);
}

absl::StatusOr<std::vector<VariantRecord>> MemoryStore::Variants(EvaluationId evaluation) {
  MutexLock lock(database_->mu_);
  HYDRANT_RETURN_IF_ERROR(CheckActive());
  return database_->tables_.Variants(evaluation);
}

absl::StatusOr<std::vector<StateStore::AttemptCount>> MemoryStore::CountAttempts() {
  MutexLock lock(database_->mu_);
  HYDRANT_RETURN_IF_ERROR(CheckActive());
  return database_->tables_.CountAttempts();
}

}  // namespace hydrant
