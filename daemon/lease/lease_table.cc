#include "daemon/lease/lease_table.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace hydrant {
namespace {

constexpr std::array<std::string_view, 5> kStageNames = {"leased", "fetching", "building", "pushing",
                                                         "ended"};

std::string Describe(const AttemptSubject& subject) {
  return subject.check.empty() ? absl::StrCat("step ", subject.derivation)
                               : absl::StrCat("check ", subject.check);
}

std::string Describe(AttemptId attempt) { return absl::StrCat("a", attempt.value); }

absl::Status CheckComplete(const Lease& lease) {
  if (!lease.attempt || !lease.token)
    return absl::InvalidArgumentError("a lease needs an attempt and a token");
  if (lease.subject.derivation.empty() == lease.subject.check.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the lease of attempt ", Describe(lease.attempt),
                                                   " must be of a step or of a check, one of them"));
  }
  if (lease.worker.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the lease of attempt ", Describe(lease.attempt), " has no worker"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view AttemptStageName(AttemptStage stage) { return kStageNames[static_cast<size_t>(stage)]; }

std::optional<AttemptStage> ParseAttemptStage(std::string_view name) {
  for (size_t i = 0; i < kStageNames.size(); ++i) {
    if (kStageNames[i] == name) return static_cast<AttemptStage>(i);
  }
  return std::nullopt;
}

absl::Status LeaseTable::Grant(Lease lease) {
  if (absl::Status complete = CheckComplete(lease); !complete.ok()) return complete;
  if (leases_.contains(lease.attempt)) {
    return absl::AlreadyExistsError(absl::StrCat("attempt ", Describe(lease.attempt), " has a lease"));
  }
  if (const Lease* other = FindSubject(lease.subject); other != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat(Describe(lease.subject), " is leased to ", other->worker,
                                                 " as attempt ", Describe(other->attempt)));
  }
  if (!lease.gpu_uuid.empty()) {
    for (const auto& [attempt, other] : leases_) {
      if (other.worker == lease.worker && other.gpu_uuid == lease.gpu_uuid) {
        return absl::AlreadyExistsError(absl::StrCat("GPU ", lease.gpu_uuid, " of ", lease.worker,
                                                     " is taken by attempt ", Describe(attempt)));
      }
    }
  }
  by_subject_.emplace(lease.subject, lease.attempt);
  leases_.emplace(lease.attempt, std::move(lease));
  return absl::OkStatus();
}

absl::Status LeaseTable::Adopt(Lease lease, absl::Time now) {
  lease.expires_at = now + duration_;
  return Grant(std::move(lease));
}

absl::StatusOr<const Lease*> LeaseTable::Check(AttemptId attempt, LeaseToken token) const {
  const Lease* lease = Find(attempt);
  if (lease == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("attempt ", Describe(attempt), " has no lease: it ended or expired"));
  }
  if (lease->token != token) {
    return absl::AbortedError(
        absl::StrCat("token ", token.value, " of attempt ", Describe(attempt), " is not the current one"));
  }
  return lease;
}

absl::Status LeaseTable::Renew(AttemptId attempt, LeaseToken token, absl::Time now) {
  const absl::StatusOr<const Lease*> lease = Check(attempt, token);
  if (!lease.ok()) return lease.status();
  if ((*lease)->expires_at <= now) {
    return absl::NotFoundError(absl::StrCat("the lease of attempt ", Describe(attempt), " has expired"));
  }
  Lease& live = leases_.find(attempt)->second;
  live.expires_at = std::max(live.expires_at, now + duration_);
  return absl::OkStatus();
}

absl::Status LeaseTable::Advance(AttemptId attempt, LeaseToken token, AttemptStage stage, absl::Time now) {
  const absl::StatusOr<const Lease*> lease = Check(attempt, token);
  if (!lease.ok()) return lease.status();
  const AttemptStage at = (*lease)->stage;
  if (stage < at || stage == AttemptStage::kEnded) {
    return absl::FailedPreconditionError(
        absl::StrCat("attempt ", Describe(attempt), " is ", std::string(AttemptStageName(at)),
                     " and cannot be reported ", std::string(AttemptStageName(stage))));
  }
  if (stage == at) return absl::OkStatus();
  Lease& live = leases_.find(attempt)->second;
  live.stage = stage;
  live.stage_at = now;
  return absl::OkStatus();
}

void LeaseTable::End(AttemptId attempt) {
  const auto found = leases_.find(attempt);
  if (found == leases_.end()) return;
  by_subject_.erase(found->second.subject);
  leases_.erase(found);
}

void LeaseTable::Release(AttemptId attempt) {
  const auto found = leases_.find(attempt);
  if (found == leases_.end()) return;
  released_[attempt] = found->second.token;
  if (released_.size() > kReleasedKept) released_.erase(released_.begin());
  End(attempt);
}

bool LeaseTable::Released(AttemptId attempt, LeaseToken token) const {
  const auto found = released_.find(attempt);
  return found != released_.end() && found->second == token;
}

std::vector<const Lease*> LeaseTable::Expired(absl::Time now) const {
  std::vector<const Lease*> expired;
  for (const auto& [attempt, lease] : leases_) {
    if (lease.expires_at <= now) expired.push_back(&lease);
  }
  return expired;
}

absl::Time LeaseTable::NextExpiry() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [attempt, lease] : leases_) next = std::min(next, lease.expires_at);
  return next;
}

const Lease* LeaseTable::Find(AttemptId attempt) const {
  const auto found = leases_.find(attempt);
  return found != leases_.end() ? &found->second : nullptr;
}

const Lease* LeaseTable::FindSubject(const AttemptSubject& subject) const {
  const auto found = by_subject_.find(subject);
  return found != by_subject_.end() ? Find(found->second) : nullptr;
}

std::vector<const Lease*> LeaseTable::OfWorker(std::string_view worker) const {
  std::vector<const Lease*> leases;
  for (const auto& [attempt, lease] : leases_) {
    if (lease.worker == worker) leases.push_back(&lease);
  }
  return leases;
}

int LeaseTable::BusySlots(std::string_view worker) const {
  int busy = 0;
  for (const Lease* lease : OfWorker(worker)) busy += lease->stage != AttemptStage::kPushing;
  return busy;
}

std::set<std::string> LeaseTable::BusyGpus(std::string_view worker) const {
  std::set<std::string> gpus;
  for (const Lease* lease : OfWorker(worker)) {
    if (!lease->gpu_uuid.empty()) gpus.insert(lease->gpu_uuid);
  }
  return gpus;
}

}  // namespace hydrant
