// The border between the conversation with hydrantd, which owns leases, and attempts, which do the work: no
// word of the wire crosses it.
#ifndef HYDRANT_WORKER_LEASE_ATTEMPT_RUNNER_H_
#define HYDRANT_WORKER_LEASE_ATTEMPT_RUNNER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/build/builder.h"
#include "worker/lease/assignment.h"

namespace hydrant::worker {

// What an attempt says. Any thread; only Finish and Derivations wait for hydrantd.
class AttemptReport {
 public:
  virtual ~AttemptReport() = default;
  virtual void Enter(AttemptStage stage) = 0;
  virtual void Log(std::string_view bytes) = 0;
  // The work is done and only pushing is left: kept on disk, so that a worker started again resumes there.
  virtual void Built(const AttemptEnd& so_far) = 0;
  // Blocks until hydrantd has recorded the end, however long it is away. FailedPrecondition: an output is
  // missing in the cache, push and finish again. Aborted: the lease is not ours any more. Cancelled: the
  // worker leaves.
  virtual absl::Status Finish(const AttemptEnd& end) = 0;
  // The .drv closure of a step, without those in `have`; references before referrers.
  virtual absl::StatusOr<std::vector<DerivationFile>> Derivations(const std::vector<std::string>& have) = 0;
};

enum class StopReason {
  kRevoked,    // nobody wants to hear of it any more
  kGivenBack,  // the worker leaves: end it as lost
  kLogLimit,   // hydrantd takes no more log: end it as log_limit
};

class AttemptRunner {
 public:
  virtual ~AttemptRunner() = default;
  // Begins and returns at once. `built`: from an earlier run of the program; only pushing is left. Keeps
  // `report` until the attempt's last word.
  virtual void Start(Assignment assignment, std::optional<AttemptEnd> built,
                     std::shared_ptr<AttemptReport> report) = 0;
  // Ends it soon, if it still runs.
  virtual void Stop(AttemptId attempt, StopReason reason) = 0;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_ATTEMPT_RUNNER_H_
