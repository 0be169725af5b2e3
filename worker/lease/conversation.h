// The worker's one conversation with hydrantd: offers, takes work, renews, hands in, leaves. Leases, not
// connections, own work: while hydrantd is away everything goes on.
#ifndef HYDRANT_WORKER_LEASE_CONVERSATION_H_
#define HYDRANT_WORKER_LEASE_CONVERSATION_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "worker/lease/attempt_reporter.h"
#include "worker/lease/attempt_runner.h"
#include "worker/lease/attempt_spool.h"
#include "worker/lease/farm_client.h"

namespace hydrant::worker {

class Conversation {
 public:
  struct Options {
    WorkerOffer offer;
    absl::Duration hold = absl::Seconds(5);  // how long hydrantd may hold a call
    Backoff backoff{.first = absl::Milliseconds(250), .most = absl::Seconds(3)};
    absl::Duration log_pause = absl::Milliseconds(200);
    absl::Duration give_back_within = absl::Seconds(10);
    absl::Duration idle = absl::InfiniteDuration();  // --once: leave after so long without work
    absl::Duration reach_within =
        absl::InfiniteDuration();             // --once: the first answer must come in this time
    std::function<void()> heartbeat = [] {};  // after each call, answered or not
  };
  // All arguments must outlive it, and the runner's attempts must have ended before it goes.
  Conversation(FarmClient& client, const AttemptSpool& spool, AttemptRunner& runner, const Clock& clock,
               Options options);

  // Blocks until the worker left: OK. Unavailable: not reached in time. Unauthenticated, InvalidArgument: the
  // first answer refused token or offer. PermissionDenied: the worker is revoked; what it held was stopped.
  absl::Status Run();

  // Any thread. Finish what runs, take nothing new, then leave.
  void Drain();
  // Any thread. Stop everything, say so, and leave.
  void GiveBack();

 private:
  struct Held {
    LeaseToken token;
    std::shared_ptr<AttemptReporter> reporter;
    v1::Assignment assignment;
    std::optional<AttemptEnd> built;  // from the spool
    bool started = false;
  };

  absl::Status Resume();
  absl::Status Hold(const v1::Assignment& assignment, std::optional<AttemptEnd> built);
  v1::SynchronizeRequest MakeRequest();
  void Handle(const v1::SynchronizeResponse& response);
  void Revoke(const v1::SynchronizeResponse& response);
  void StartNew(const v1::Farm& farm);
  absl::Status HandleFailure(const absl::Status& status);
  bool MayLeave();
  void SayGoodbye();
  void StopAll(StopReason reason);
  void Done(AttemptId attempt);
  void Wait(absl::Duration duration);

  FarmClient& client_;
  const AttemptSpool& spool_;
  AttemptRunner& runner_;
  const Clock& clock_;
  const Options options_;
  const std::string instance_;
  // Of the thread in Run.
  std::mt19937_64 random_;
  int failures_ = 0;
  bool reached_ = false, told_draining_ = false;
  absl::Time began_;

  Mutex mu_;
  CondVar changed_;
  std::map<AttemptId, Held> held_ ABSL_GUARDED_BY(mu_);
  std::set<std::pair<AttemptId, LeaseToken>> ended_
      ABSL_GUARDED_BY(mu_);  // the newest few: an assignment may be repeated
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<absl::Time> giving_back_until_ ABSL_GUARDED_BY(mu_);
  absl::Time last_busy_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_LEASE_CONVERSATION_H_
