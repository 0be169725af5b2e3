// One attempt from its assignment to its end: fetch, build or check, push; stops at the first failure. Knows
// nothing of leases or of how its words reach hydrantd.
#ifndef HYDRANT_WORKER_ATTEMPT_H_
#define HYDRANT_WORKER_ATTEMPT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/base/clock.h"
#include "worker/attempt_observer.h"
#include "worker/build/builder.h"
#include "worker/check/check_runner.h"
#include "worker/gpu_claims.h"
#include "worker/lease/attempt_runner.h"
#include "worker/push/path_transfer.h"

namespace hydrant::worker {

// What attempts work with. All may be used by several at once.
struct AttemptTools {
  std::function<absl::StatusOr<std::unique_ptr<StoreSession>>(const AttemptLimits&)> open_session;
  Builder& builder;
  PathTransfer& transfer;
  CheckRunner& checks;
  GpuClaims& gpus;
  AttemptObserver& observer;
  const Clock& clock;
  std::string token;  // of the worker, for the cache
};

class Attempt {
 public:
  Attempt(const AttemptTools& tools, Assignment assignment, std::shared_ptr<AttemptReport> report)
      : tools_(tools), assignment_(std::move(assignment)), report_(std::move(report)) {}

  // Blocks until its end was told. `built`: only pushing is left.
  void Run(std::optional<AttemptEnd> built);
  // From another thread: ends soon.
  void Stop(StopReason reason);

 private:
  void RunStep(const StepWork& work, bool resumed);
  void RunCheck(const CheckWork& work);
  // Each does one stage and fills in what it took; false when the attempt failed there.
  bool Prepare(StoreSession& session, const StepWork& work, const nix::Derivation& derivation, bool& built);
  bool Fetch(StoreSession& session, const std::vector<std::string>& paths);
  bool Build(StoreSession& session, const StepWork& work, const nix::Derivation& derivation);
  bool Push(StoreSession& session, const nix::Derivation& derivation);
  // Tells the end; pushes again what hydrantd misses.
  void Finish(StoreSession& session, const nix::Derivation& derivation);
  void Check(const CheckWork& work);

  void Enter(AttemptStage stage);
  absl::StatusOr<std::unique_ptr<StoreSession>> Open(const AttemptLimits& limits);
  bool Fail(Cause cause, std::string message);
  CacheAccess Access() const;

  const AttemptTools& tools_;
  const Assignment assignment_;
  const std::shared_ptr<AttemptReport> report_;
  Cancellation cancellation_;
  Mutex mu_;
  std::optional<StopReason> stopped_ ABSL_GUARDED_BY(mu_);
  // Of the thread in Run.
  AttemptStage stage_ = AttemptStage::kLeased;
  AttemptEnd end_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_ATTEMPT_H_
