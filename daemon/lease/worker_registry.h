// The workers that ever connected: what each offers and whether it may be given work. Pure, injected time, no lock.
#ifndef HYDRANT_DAEMON_LEASE_WORKER_REGISTRY_H_
#define HYDRANT_DAEMON_LEASE_WORKER_REGISTRY_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/lease/worker_offer.h"

namespace hydrant {

// connected <-> draining; gone -> connected; quarantined <-> connected; any -> revoked (final). Drawn in daemon/README.md.
enum class WorkerState { kConnected, kDraining, kGone, kQuarantined, kRevoked };
std::string_view WorkerStateName(WorkerState state);
std::optional<WorkerState> ParseWorkerState(std::string_view name);

struct Worker {
  std::string name, instance;
  WorkerOffer offer;
  WorkerState state = WorkerState::kGone;
  bool drained_by_operator = false;  // survives restarts of both sides
  bool draining_itself = false;
  absl::Time seen_at = absl::InfinitePast();
  absl::Time connected_at = absl::InfinitePast();
  absl::Time quarantined_until = absl::InfinitePast();
  std::set<std::string> failed_since;  // different work that the farm failed there since something succeeded
};

class WorkerRegistry {
 public:
  struct Options {
    absl::Duration gone_after = absl::Seconds(20);  // silence after which a worker is gone
    int quarantine_after = 5;                       // different steps or checks that the farm failed there in a row
    absl::Duration quarantine = absl::Minutes(5);
  };
  explicit WorkerRegistry(Options options) : options_(options) {}

  // InvalidArgument for a bad name ([a-z0-9][a-z0-9.-]*, at most 63) or offer (no system, slots < 1, two GPUs of one uuid);
  // PermissionDenied when revoked. True: it was gone, or is a new instance.
  absl::StatusOr<bool> Seen(const std::string& name, const std::string& instance, const WorkerOffer& offer,
                            bool draining, absl::Time now);
  void Leave(std::string_view name);
  // From the record, at start: gone until it is seen.
  void Restore(Worker worker);
  // NotFound names the nearest; FailedPrecondition when it is revoked.
  absl::Status Drain(std::string_view name, bool drain);
  // For ever: it is not let in again. NotFound names the nearest.
  absl::Status Revoke(std::string_view name);
  // An attempt ended there: well, or by the farm's fault. A worker that comes back from quarantine is back in it with its next
  // failure, until something succeeds there.
  void Succeeded(std::string_view name);
  // `work`: which; one that fails again and again says more of itself than of the worker. True: it is quarantined now.
  bool FailedByFarm(std::string_view name, const std::string& work, absl::Time now);
  // Those that became gone, or left quarantine, since the last call.
  std::vector<std::string> Expire(absl::Time now);
  absl::Time NextExpiry() const;  // InfiniteFuture: none

  const Worker* Find(std::string_view name) const;
  const std::map<std::string, Worker, std::less<>>& all() const { return workers_; }

 private:
  WorkerState StateOf(const Worker& worker, absl::Time now) const;
  absl::StatusOr<Worker*> FindOrNearest(std::string_view name);
  Options options_;
  std::map<std::string, Worker, std::less<>> workers_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_LEASE_WORKER_REGISTRY_H_
