// The live leases: who may run which attempt, until when, under which fencing token. Decides from injected time only; no
// worker's clock counts. Pure: what it decides the caller records before it is applied here. No lock of its own.
#ifndef HYDRANT_DAEMON_LEASE_LEASE_TABLE_H_
#define HYDRANT_DAEMON_LEASE_LEASE_TABLE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/graph/ids.h"

namespace hydrant {

// Forward only: leased -> fetching -> building -> pushing -> ended.
enum class AttemptStage { kLeased, kFetching, kBuilding, kPushing, kEnded };
std::string_view AttemptStageName(AttemptStage stage);
std::optional<AttemptStage> ParseAttemptStage(std::string_view name);

// What an attempt is of: exactly one of the two is not empty.
struct AttemptSubject {
  std::string derivation;  // a step's .drv path
  std::string check;       // a check's key
  friend auto operator<=>(const AttemptSubject&, const AttemptSubject&) = default;
};

struct Lease {
  AttemptId attempt;
  LeaseToken token;
  AttemptSubject subject;
  std::string worker, instance;
  std::string gpu_uuid;  // empty: none
  AttemptStage stage = AttemptStage::kLeased;
  absl::Time granted_at, expires_at, stage_at;
};

class LeaseTable {
 public:
  explicit LeaseTable(absl::Duration duration) : duration_(duration) {}

  absl::Duration duration() const { return duration_; }
  // AlreadyExists when the subject has a live lease, or its GPU is taken.
  absl::Status Grant(Lease lease);
  // A lease that a restart read from the record: holds for a whole duration from `now`, so that its worker can come back.
  absl::Status Adopt(Lease lease, absl::Time now);
  // Aborted: the token is not current; NotFound: no such lease (ended, expired).
  absl::StatusOr<const Lease*> Check(AttemptId attempt, LeaseToken token) const;
  absl::Status Renew(AttemptId attempt, LeaseToken token, absl::Time now);
  // FailedPrecondition when it would go back; OK and no change when it is there already.
  absl::Status Advance(AttemptId attempt, LeaseToken token, AttemptStage stage, absl::Time now);
  void End(AttemptId attempt);  // expired or revoked; absent: no change
  // Ended by its worker's own report, which the worker may not have heard yet: kept in mind (the last kReleasedKept), so that a
  // repeated report is no news and the lease is not told as revoked.
  void Release(AttemptId attempt);
  bool Released(AttemptId attempt, LeaseToken token) const;

  std::vector<const Lease*> Expired(absl::Time now) const;
  absl::Time NextExpiry() const;  // InfiniteFuture: none
  const Lease* Find(AttemptId attempt) const;
  const Lease* FindSubject(const AttemptSubject& subject) const;
  // In order of attempt.
  std::vector<const Lease*> OfWorker(std::string_view worker) const;
  // Leases of the worker that take a slot (not pushing), and the GPUs that are taken.
  int BusySlots(std::string_view worker) const;
  std::set<std::string> BusyGpus(std::string_view worker) const;
  size_t size() const { return leases_.size(); }
  const std::map<AttemptId, Lease>& all() const { return leases_; }

 private:
  static constexpr size_t kReleasedKept = 4096;
  absl::Duration duration_;
  std::map<AttemptId, Lease> leases_;
  std::map<AttemptSubject, AttemptId> by_subject_;
  std::map<AttemptId, LeaseToken> released_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_LEASE_LEASE_TABLE_H_
