// Says to hydrantd what one attempt says: stages, log, end, in this order, each until it was heard. Knows
// nothing of what the attempt does.
#ifndef HYDRANT_WORKER_LEASE_ATTEMPT_REPORTER_H_
#define HYDRANT_WORKER_LEASE_ATTEMPT_REPORTER_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/backoff.h"
#include "lib/base/mutex.h"
#include "worker/lease/attempt_runner.h"
#include "worker/lease/attempt_spool.h"
#include "worker/lease/farm_client.h"

namespace hydrant::worker {

class AttemptReporter final : public AttemptReport {
 public:
  struct Options {
    AttemptId attempt;
    LeaseToken token;
    std::string assignment;  // serialised, for the spool
    AttemptStage stage = AttemptStage::kLeased;
    Backoff backoff{.first = absl::Milliseconds(250), .most = absl::Seconds(3)};
    absl::Duration log_pause = absl::Milliseconds(200);  // between two pieces of log
    // The lease is lost, or no more log is taken. Called in a thread of the reporter's own.
    std::function<void(AttemptId, StopReason)> stop;
    // Nothing more will be said. Called in the thread of Finish.
    std::function<void(AttemptId)> done;
  };
  static absl::StatusOr<std::shared_ptr<AttemptReporter>> Open(FarmClient& client, const AttemptSpool& spool,
                                                               Options options);
  ~AttemptReporter() override;

  // The lease is not ours any more: nothing more is sent.
  void Drop();
  // The worker leaves: Finish waits no longer. What was built stays in the spool.
  void Abandon();
  AttemptStage stage() const;
  bool dropped() const;

  void Enter(AttemptStage stage) override;
  void Log(std::string_view bytes) override;
  void Built(const AttemptEnd& so_far) override;
  absl::Status Finish(const AttemptEnd& end) override;
  absl::StatusOr<std::vector<DerivationFile>> Derivations(const std::vector<std::string>& have) override;

 private:
  AttemptReporter(FarmClient& client, const AttemptSpool& spool, Options options,
                  std::unique_ptr<SpooledLog> log, int64_t log_written);
  void Run();
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MayGoOn() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !dropped_ && !abandoned_; }
  // One call, mu_ released meanwhile.
  void SendNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SendStage() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SendLog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SendEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // True when the call was answered for good; else the lease is dropped or a pause was made.
  bool Settled(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Pause(absl::Duration duration) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Stop(StopReason reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Keep(const AttemptEnd& end);

  FarmClient& client_;
  const AttemptSpool& spool_;
  const Options options_;
  const std::unique_ptr<SpooledLog> log_;

  mutable Mutex mu_;
  CondVar changed_;
  AttemptStage stage_ ABSL_GUARDED_BY(mu_);
  std::deque<AttemptStage> unsent_stages_ ABSL_GUARDED_BY(mu_);
  int64_t log_written_ ABSL_GUARDED_BY(mu_) = 0, log_sent_ ABSL_GUARDED_BY(mu_) = 0;
  bool log_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool dropped_ ABSL_GUARDED_BY(mu_) = false, abandoned_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<AttemptEnd> end_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> verdict_ ABSL_GUARDED_BY(mu_);
  int failures_ ABSL_GUARDED_BY(mu_) = 0;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_ATTEMPT_REPORTER_H_
