#include "worker/lease/conversation.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "worker/lease/wire.h"

namespace hydrant::worker {
namespace {

constexpr size_t kRemembered = 1000;

std::string NewInstance() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
}

}  // namespace

Conversation::Conversation(FarmClient& client, const AttemptSpool& spool, AttemptRunner& runner,
                           const Clock& clock, Options options)
    : client_(client),
      spool_(spool),
      runner_(runner),
      clock_(clock),
      options_(std::move(options)),
      instance_(NewInstance()),
      random_(std::random_device{}()),
      began_(clock.Now()),
      last_busy_(began_) {}

absl::Status Conversation::Run() {
  HYDRANT_RETURN_IF_ERROR(Resume());
  for (;;) {
    if (MayLeave()) break;
    v1::SynchronizeResponse response;
    const absl::Status status = client_.Synchronize(MakeRequest(), response);
    options_.heartbeat();
    if (status.ok()) {
      if (failures_ > 0 || !reached_) Log(LogLevel::kInfo, "hydrantd answers", {{"worker", client_.name()}});
      failures_ = 0;
      reached_ = true;
      Handle(response);
      if (response.wait_ms() > 0) Wait(absl::Milliseconds(response.wait_ms()));
    } else if (!absl::IsCancelled(status)) {  // else it was woken by us
      HYDRANT_RETURN_IF_ERROR(HandleFailure(status));
    }
  }
  SayGoodbye();
  return absl::OkStatus();
}

absl::Status Conversation::Resume() {
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<AttemptSpool::Kept> kept, spool_.Load());
  for (const AttemptSpool::Kept& one : kept) {
    v1::Assignment assignment;
    v1::AttemptEnd end;
    if (!assignment.ParseFromString(one.assignment) || !end.ParseFromString(one.end)) {
      Log(LogLevel::kWarning, "unreadable end in the spool is forgotten", {{"attempt", one.attempt.value}});
      spool_.Forget(one.attempt);
      continue;
    }
    Log(LogLevel::kInfo, "resuming", {{"attempt", one.attempt.value}});
    HYDRANT_RETURN_IF_ERROR(Hold(assignment, FromWire(end)));
  }
  return absl::OkStatus();
}

absl::Status Conversation::Hold(const v1::Assignment& assignment, std::optional<AttemptEnd> built) {
  const AttemptId attempt{assignment.attempt()};
  const LeaseToken token{assignment.token()};
  HYDRANT_ASSIGN_OR_RETURN(
      std::shared_ptr<AttemptReporter> reporter,
      AttemptReporter::Open(client_, spool_,
                            {.attempt = attempt,
                             .token = token,
                             .assignment = assignment.SerializeAsString(),
                             .stage = built ? AttemptStage::kPushing : AttemptStage::kLeased,
                             .backoff = options_.backoff,
                             .log_pause = options_.log_pause,
                             .stop = [this](AttemptId id, StopReason reason) { runner_.Stop(id, reason); },
                             .done = [this](AttemptId id) { Done(id); }}));
  MutexLock lock(mu_);
  held_.emplace(
      attempt,
      Held{.token = token, .reporter = std::move(reporter), .assignment = assignment, .built = built});
  return absl::OkStatus();
}

v1::SynchronizeRequest Conversation::MakeRequest() {
  v1::SynchronizeRequest request;
  request.set_name(client_.name());
  request.set_instance(instance_);
  *request.mutable_offer() = ToWire(options_.offer);
  absl::Duration hold = options_.hold;
  MutexLock lock(mu_);
  for (const auto& [attempt, held] : held_) {
    if (held.reporter->dropped()) continue;
    // Renewed three times in the length of a lease, so that one lost call loses none.
    if (held.assignment.lease_s() > 0) hold = std::min(hold, absl::Seconds(held.assignment.lease_s()) / 3);
    v1::HeldAttempt& one = *request.add_held();
    one.set_attempt(attempt.value);
    one.set_token(held.token.value);
    one.set_stage(ToWire(held.reporter->stage()));
  }
  request.set_draining(draining_);
  if (held_.empty()) hold = std::min(hold, last_busy_ + options_.idle - clock_.Now());
  // At once the first time: the leases of an earlier run wait to be renewed.
  if (!reached_) hold = absl::ZeroDuration();
  request.set_hold_ms(std::max<int64_t>(0, absl::ToInt64Milliseconds(hold)));
  return request;
}

void Conversation::Handle(const v1::SynchronizeResponse& response) {
  if (response.draining() != told_draining_) {
    told_draining_ = response.draining();
    Log(LogLevel::kInfo, told_draining_ ? "drained by an operator: nothing new comes" : "no longer drained");
  }
  Revoke(response);
  for (const v1::Assignment& assignment : response.assignments()) {
    const AttemptId attempt{assignment.attempt()};
    {
      MutexLock lock(mu_);
      if (held_.contains(attempt) || ended_.contains({attempt, {assignment.token()}})) continue;
    }
    if (const absl::Status held = Hold(assignment, std::nullopt); !held.ok()) {
      // It is repeated: perhaps there is room on the disk by then.
      Log(LogLevel::kError, "cannot take an attempt",
          {{"attempt", attempt.value}, {"error", std::string(held.message())}});
    }
  }
  StartNew(response.farm());
}

void Conversation::Revoke(const v1::SynchronizeResponse& response) {
  for (const int64_t number : response.revoked()) {
    const AttemptId attempt{number};
    bool started = false;
    {
      MutexLock lock(mu_);
      const auto it = held_.find(attempt);
      if (it == held_.end()) continue;
      it->second.reporter->Drop();
      started = it->second.started;
    }
    Log(LogLevel::kInfo, "attempt revoked", {{"attempt", number}});
    if (started) {
      runner_.Stop(attempt, StopReason::kRevoked);
    } else {
      spool_.Forget(attempt);
      Done(attempt);
    }
  }
}

void Conversation::StartNew(const v1::Farm& farm) {
  struct New {
    Assignment assignment;
    std::optional<AttemptEnd> built;
    std::shared_ptr<AttemptReporter> reporter;
  };
  std::vector<New> fresh;
  std::vector<AttemptId> refused;
  {
    MutexLock lock(mu_);
    if (giving_back_until_) return;
    for (auto& [attempt, held] : held_) {
      if (held.started) continue;
      held.started = true;
      auto assignment = FromWire(held.assignment, farm);
      if (!assignment.ok()) {
        Log(LogLevel::kError, "assignment refused", {{"error", std::string(assignment.status().message())}});
        refused.push_back(attempt);
        continue;
      }
      fresh.push_back({*std::move(assignment), held.built, held.reporter});
    }
    if (!held_.empty()) last_busy_ = clock_.Now();
  }
  for (const AttemptId attempt : refused) Done(attempt);
  for (New& one : fresh) {
    Log(LogLevel::kInfo, "attempt begins", {{"attempt", one.assignment.attempt.value}});
    runner_.Start(std::move(one.assignment), std::move(one.built), std::move(one.reporter));
  }
}

absl::Status Conversation::HandleFailure(const absl::Status& status) {
  if (absl::IsPermissionDenied(status)) {
    StopAll(StopReason::kRevoked);
    return status;
  }
  if (!reached_ && (absl::IsUnauthenticated(status) || absl::IsInvalidArgument(status))) return status;
  if (!reached_ && clock_.Now() - began_ >= options_.reach_within) {
    return absl::UnavailableError(absl::StrCat("hydrantd cannot be reached: ", status.message()));
  }
  if (++failures_ == 1) {
    Log(LogLevel::kWarning, "hydrantd does not answer; work goes on", {{"error", status.ToString()}});
  }
  Wait(options_.backoff.Delay(failures_, random_));
  return absl::OkStatus();
}

void Conversation::Wait(absl::Duration duration) {
  const absl::Time until = absl::Now() + duration;
  MutexLock lock(mu_);
  const bool was_draining = draining_, was_giving_back = giving_back_until_.has_value();
  while (absl::Now() < until && draining_ == was_draining &&
         giving_back_until_.has_value() == was_giving_back && !(draining_ && held_.empty())) {
    changed_.WaitFor(mu_, until - absl::Now());
  }
}

bool Conversation::MayLeave() {
  MutexLock lock(mu_);
  if (giving_back_until_ && clock_.Now() >= *giving_back_until_) {
    for (const auto& [attempt, held] : held_) held.reporter->Abandon();
    return true;
  }
  if (!held_.empty()) return false;
  return draining_ || clock_.Now() - last_busy_ >= options_.idle;
}

void Conversation::SayGoodbye() {
  v1::SynchronizeRequest request = MakeRequest();
  request.set_leaving(true);
  request.set_draining(true);
  request.set_hold_ms(0);
  v1::SynchronizeResponse response;
  absl::Status status = client_.Synchronize(request, response);
  if (absl::IsCancelled(status))
    status = client_.Synchronize(request, response);  // a wake that came too late
  Log(LogLevel::kInfo, "left", {{"worker", client_.name()}, {"heard", status.ok() ? "yes" : "no"}});
}

void Conversation::Drain() {
  {
    MutexLock lock(mu_);
    if (draining_) return;
    draining_ = true;
    changed_.NotifyAll();
  }
  Log(LogLevel::kInfo, "draining: finishing what runs, taking nothing new");
  client_.WakeSynchronize();
}

void Conversation::GiveBack() {
  {
    MutexLock lock(mu_);
    draining_ = true;
    if (giving_back_until_) return;
    giving_back_until_ = clock_.Now() + options_.give_back_within;
    changed_.NotifyAll();
  }
  Log(LogLevel::kInfo, "giving back what runs");
  StopAll(StopReason::kGivenBack);
  client_.WakeSynchronize();
}

void Conversation::StopAll(StopReason reason) {
  std::vector<AttemptId> running, waiting;
  {
    MutexLock lock(mu_);
    for (const auto& [attempt, held] : held_) {
      if (reason == StopReason::kRevoked) held.reporter->Drop();
      (held.started ? running : waiting).push_back(attempt);
    }
  }
  for (const AttemptId attempt : running) runner_.Stop(attempt, reason);
  for (const AttemptId attempt : waiting) Done(attempt);
}

void Conversation::Done(AttemptId attempt) {
  std::shared_ptr<AttemptReporter> reporter;  // must not end under the lock
  bool wake = false;
  {
    MutexLock lock(mu_);
    const auto it = held_.find(attempt);
    if (it == held_.end()) return;
    ended_.insert({attempt, it->second.token});
    if (ended_.size() > kRemembered) ended_.erase(ended_.begin());
    reporter = std::move(it->second.reporter);
    held_.erase(it);
    last_busy_ = clock_.Now();
    wake = held_.empty() && (draining_ || options_.idle < absl::InfiniteDuration());
    changed_.NotifyAll();
  }
  if (wake) client_.WakeSynchronize();
}

}  // namespace hydrant::worker
