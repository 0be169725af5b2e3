// Workers and their attempts: the lease conversation from the farm's side.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// The largest bounds of all that want it.
Limits LimitsOfStep(const FarmState& state, StepId step) {
  Limits limits;
  for (const auto& [id, evaluation] : state.evaluations) {
    if (!evaluation.wanting) continue;
    for (const VariantEntry& variant : evaluation.variants) {
      if (variant.step != step) continue;
      const Limits& wanted =
          LimitsOf(evaluation.declared->matrix, evaluation.declared->expansion.variants[variant.record.ordinal]);
      limits.timeout = std::max(limits.timeout, wanted.timeout);
      limits.max_silent = std::max(limits.max_silent, wanted.max_silent);
      limits.max_log = std::max(limits.max_log, wanted.max_log);
      limits.max_output = std::max(limits.max_output, wanted.max_output);
      limits.memory = std::max(limits.memory, wanted.memory);
    }
  }
  return limits;
}

std::string OutcomeOf(Cause cause) {
  if (cause == Cause::kNone) return "succeeded";
  if (cause == Cause::kCancelled) return "cancelled";
  if (cause == Cause::kLost) return "lost";
  return "failed";
}

}  // namespace

absl::StatusOr<SyncReply> Coordinator::Synchronize(const SyncRequest& request) {
  const absl::Time now = options_.clock.Now();
  std::vector<Lease> lost;
  bool news = false;
  WorkerRecord record;
  {
    MutexLock lock(mu_);
    HYDRANT_RETURN_IF_ERROR(Loaded());
    const Worker* before = state_->workers.Find(request.name);
    const bool changed_offer = before == nullptr || !(before->offer == request.offer);
    const WorkerState state_before = before == nullptr ? WorkerState::kGone : before->state;
    HYDRANT_ASSIGN_OR_RETURN(bool returned, state_->workers.Seen(request.name, request.instance, request.offer,
                                                                 request.draining, now));
    const Worker& worker = *state_->workers.Find(request.name);
    news = returned || changed_offer || worker.state != state_before;
    record = {.name = worker.name, .offer = worker.offer, .drained_by_operator = worker.drained_by_operator,
              .revoked = worker.state == WorkerState::kRevoked, .seen_at = now};
    std::set<AttemptId> held;
    for (const HeldLease& lease : request.held) {
      if (state_->leases.Renew(lease.attempt, lease.token, now).ok()) state_->renewed.insert(lease.attempt);
      held.insert(lease.attempt);
    }
    for (const Lease* lease : state_->leases.OfWorker(request.name)) {
      const bool of_old_instance = lease->instance != request.instance && lease->stage != AttemptStage::kLeased;
      const bool forgotten = lease->instance != request.instance || request.leaving;
      if (!held.contains(lease->attempt) && (of_old_instance || forgotten)) lost.push_back(*lease);
    }
    if (request.leaving) {
      state_->workers.Leave(request.name);
      news = true;
    }
  }
  if (news || !lost.empty()) {
    MutexLock door(door_);
    HYDRANT_RETURN_IF_ERROR(Fresh());
    HYDRANT_RETURN_IF_ERROR(Record({SaveWorker{record}}));
    for (const Lease& lease : lost) {
      Decision decision;
      {
        MutexLock lock(mu_);
        if (state_->leases.Find(lease.attempt) == nullptr) continue;
        AttemptResult result{.cause = Cause::kLost, .message = absl::StrCat("the worker ", lease.worker, " restarted")};
        HYDRANT_RETURN_IF_ERROR(PlanEnd(decision, lease, "revoked", std::move(result), std::nullopt));
      }
      HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
    }
    NoteUnplaceable();
    Announce();
    Advance();
  }
  return PendingFor(request);
}

absl::StatusOr<SyncReply> Coordinator::PendingFor(const SyncRequest& request) const {
  MutexLock lock(mu_);
  HYDRANT_RETURN_IF_ERROR(Loaded());
  SyncReply reply;
  const Worker* worker = state_->workers.Find(request.name);
  reply.draining = worker != nullptr && worker->drained_by_operator;
  std::set<AttemptId> held;
  for (const HeldLease& lease : request.held) {
    held.insert(lease.attempt);
    auto current = state_->leases.Check(lease.attempt, lease.token);
    if (!current.ok() || (*current)->worker != request.name) reply.revoked.push_back(lease.attempt);
  }
  for (const Lease* lease : state_->leases.OfWorker(request.name)) {
    if (held.contains(lease->attempt)) continue;
    HYDRANT_ASSIGN_OR_RETURN(Assignment assignment, AssignmentOf(*lease));
    reply.assignments.push_back(std::move(assignment));
  }
  return reply;
}

absl::StatusOr<Assignment> Coordinator::AssignmentOf(const Lease& lease) const {
  Assignment assignment;
  assignment.lease = lease;
  if (!lease.subject.check.empty()) {
    assignment.check = state_->checks.at(lease.subject.check).record;
    assignment.limits = Limits{.timeout = assignment.check->timeout, .max_silent = absl::ZeroDuration()};
    return assignment;
  }
  auto step = state_->graph.Find(lease.subject.derivation);
  auto derivation = state_->derivations.find(lease.subject.derivation);
  if (!step || derivation == state_->derivations.end()) {
    return absl::InternalError(absl::StrCat("the leased step ", lease.subject.derivation, " is not in the graph"));
  }
  assignment.derivation = derivation->second;
  assignment.needs_closure = NeedsClosure(derivation->second->parsed);
  assignment.limits = LimitsOfStep(*state_, *step);
  HYDRANT_ASSIGN_OR_RETURN(assignment.input_paths, InputPathsOf(*state_, derivation->second->parsed));
  return assignment;
}

absl::Status Coordinator::CheckLease(AttemptId attempt, LeaseToken token) const {
  MutexLock lock(mu_);
  HYDRANT_RETURN_IF_ERROR(Loaded());
  return state_->leases.Check(attempt, token).status();
}

absl::Status Coordinator::ReportStage(AttemptId attempt, LeaseToken token, AttemptStage stage) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  const absl::Time now = options_.clock.Now();
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(const Lease* lease, state_->leases.Check(attempt, token));
    if (lease->stage >= stage) return absl::OkStatus();
    decision.Record(AdvanceAttempt{.attempt = attempt, .token = token, .stage = stage});
    decision.Then([=](FarmState& state) { (void)state.leases.Advance(attempt, token, stage, now); });
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  if (stage == AttemptStage::kPushing) Advance();  // its slot is free
  return absl::OkStatus();
}

absl::Status Coordinator::ReportEnd(AttemptId attempt, LeaseToken token, const ReportedEnd& end) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(const Lease* lease, state_->leases.Check(attempt, token));
    if (end.result.cause == Cause::kNone && !lease->subject.derivation.empty()) {
      auto step = state_->graph.Find(lease->subject.derivation);
      std::string missing;
      if (step && !OutputsHeld(*step, &missing)) {
        return absl::FailedPreconditionError(absl::StrCat("the output ", missing, " was not uploaded"));
      }
    }
    HYDRANT_RETURN_IF_ERROR(PlanEnd(decision, *lease, "released", end.result, end.gpu));
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  Advance();
  return absl::OkStatus();
}

absl::Status Coordinator::PlanEnd(Decision& decision, const Lease& lease, const std::string& lease_end,
                                  AttemptResult result, const std::optional<OfferedGpu>& gpu) const {
  const absl::Time now = options_.clock.Now();
  result.outcome = OutcomeOf(result.cause);
  result.ended_at = now;
  decision.Record(EndAttempt{.attempt = lease.attempt, .token = lease.token, .lease_end = lease_end, .result = result});
  if (lease.subject.check.empty()) {
    HYDRANT_RETURN_IF_ERROR(PlanStepEnd(decision, lease, result));
  } else {
    HYDRANT_RETURN_IF_ERROR(PlanCheckEnd(decision, lease, result, gpu));
  }
  const bool farms_fault = result.outcome == "lost" || (result.outcome == "failed" && IsRetryable(result.cause));
  decision.Then([attempt = lease.attempt, worker = lease.worker, farms_fault, now](FarmState& state) {
    state.leases.End(attempt);
    state.renewed.erase(attempt);
    if (farms_fault) {
      state.workers.FailedByFarm(worker, now);
    } else {
      state.workers.Succeeded(worker);
    }
  });
  decision.Tell([result](FarmObserver& observer) { observer.AttemptEnded(result); });
  return absl::OkStatus();
}

absl::Status Coordinator::PlanStepEnd(Decision& decision, const Lease& lease, const AttemptResult& result) const {
  auto found = state_->graph.Find(lease.subject.derivation);
  if (!found) return absl::InternalError(absl::StrCat("no step ", lease.subject.derivation));
  const StepId step = *found;
  if (result.cause == Cause::kNone) {
    decision.Then([step, took = result.building](FarmState& state) {
      state.estimate.Observe(state.graph.spec(step).name, took);
      state.avoid.erase(step);
    });
    return PlanInto(decision, step, StepEvent::kOutputsVerified, {});
  }
  StepDetail detail = state_->graph.detail(step);
  detail.cause = result.cause;
  detail.message = result.message;
  const bool given_back = result.cause == Cause::kCancelled;
  if (!IsPackageFault(result.cause)) {
    if (!given_back) ++detail.failed_attempts;
    if (detail.failed_attempts < options_.max_attempts) {
      const bool at_once = given_back || result.cause == Cause::kLost;
      detail.not_before = options_.clock.Now() + (at_once ? absl::ZeroDuration() : BackoffAfter(detail.failed_attempts));
      if (!at_once) {
        decision.Then([step, worker = lease.worker](FarmState& state) { state.avoid[step].insert(worker); });
      }
      return PlanInto(decision, step, StepEvent::kFailedByFarm, std::move(detail));
    }
  }
  detail.root = lease.subject.derivation;
  return PlanInto(decision, step, StepEvent::kFailedForGood, std::move(detail));
}

absl::Status Coordinator::PlanCheckEnd(Decision& decision, const Lease& lease, const AttemptResult& result,
                                       const std::optional<OfferedGpu>& gpu) const {
  const CheckEntry& entry = state_->checks.at(lease.subject.check);
  CheckRecord after = entry.record;
  after.attempt = lease.attempt;
  after.cause = result.cause;
  after.message = result.message;
  if (gpu) {
    after.architecture = gpu->architecture;
    after.driver = gpu->driver;
    after.simulated = gpu->simulated;
  }
  CheckEvent event = result.cause == Cause::kNone ? CheckEvent::kPassed : CheckEvent::kFailed;
  const bool given_back = result.cause == Cause::kCancelled;
  const bool farms = given_back || IsRetryable(result.cause) || result.cause == Cause::kDeviceLost;
  if (result.cause != Cause::kNone && farms) {
    if (!given_back) ++after.failed_attempts;
    if (after.failed_attempts < options_.max_attempts) event = CheckEvent::kFailedByFarm;
  }
  if (!decision.MoveCheckBy(entry.record, event, after)) {
    return absl::FailedPreconditionError(absl::StrCat("the check ", after.name, " cannot end now"));
  }
  if (event == CheckEvent::kFailedByFarm) {
    decision.Then([key = after.key, worker = lease.worker, now = options_.clock.Now()](FarmState& state) {
      state.checks[key].ready_since = now;
      state.checks[key].avoid.insert(worker);
    });
  } else {
    decision.Tell([after](FarmObserver& observer) { observer.CheckDecided(after); });
  }
  return absl::OkStatus();
}

void Coordinator::ExpireLeases() {
  std::vector<Lease> expired;
  {
    MutexLock lock(mu_);
    for (const Lease* lease : state_->leases.Expired(options_.clock.Now())) expired.push_back(*lease);
  }
  for (const Lease& lease : expired) {
    Decision decision;
    {
      MutexLock lock(mu_);
      AttemptResult result{.cause = Cause::kLost,
                           .message = absl::StrCat("the worker ", lease.worker, " was not heard of in time")};
      if (absl::Status planned = PlanEnd(decision, lease, "expired", std::move(result), std::nullopt); !planned.ok()) {
        Log(LogLevel::kError, "lease not expired", {{"attempt", lease.attempt.value}, {"reason", planned.ToString()}});
        continue;
      }
    }
    decision.Tell([](FarmObserver& observer) { observer.LeaseExpired(); });
    if (!Carry(std::move(decision)).ok()) return;
    Log(LogLevel::kWarning, "lease expired", {{"attempt", lease.attempt.value}, {"worker", lease.worker}});
  }
}

void Coordinator::RecordRenewals() {
  Decision decision;
  {
    MutexLock lock(mu_);
    if (state_->renewed.empty()) return;
    RenewLeases renewals{.expires_at = absl::InfiniteFuture()};
    for (AttemptId attempt : state_->renewed) {
      const Lease* lease = state_->leases.Find(attempt);
      if (lease == nullptr) continue;
      renewals.attempts.push_back(attempt);
      renewals.expires_at = std::min(renewals.expires_at, lease->expires_at);
    }
    state_->renewed.clear();
    if (renewals.attempts.empty()) return;
    decision.Record(std::move(renewals));
  }
  (void)Record(decision.batch);
}

absl::Status Coordinator::MayUpload(AttemptId attempt, LeaseToken token, std::string_view path) const {
  MutexLock lock(mu_);
  HYDRANT_RETURN_IF_ERROR(Loaded());
  HYDRANT_ASSIGN_OR_RETURN(const Lease* lease, state_->leases.Check(attempt, token));
  if (path.empty()) return absl::OkStatus();
  if (auto step = state_->graph.Find(lease->subject.derivation)) {
    for (const auto& [name, output] : state_->graph.spec(*step).outputs) {
      if (output == path) return absl::OkStatus();
    }
  }
  return absl::PermissionDeniedError(absl::StrCat(AbslView(path), " is no output of attempt a", attempt.value));
}

absl::StatusOr<std::vector<DerivationFileView>> Coordinator::DerivationsOf(AttemptId attempt, LeaseToken token,
                                                                           const std::set<std::string>& have) const {
  MutexLock lock(mu_);
  HYDRANT_ASSIGN_OR_RETURN(const Lease* lease, state_->leases.Check(attempt, token));
  std::vector<DerivationFileView> files;
  std::set<std::string> seen = have;
  // Depth first with an explicit stack: a file is written out once all its inputs were.
  std::vector<std::pair<std::string, bool>> stack = {{lease->subject.derivation, false}};
  while (!stack.empty()) {
    auto [path, inputs_done] = stack.back();
    stack.pop_back();
    if (!inputs_done && !seen.insert(path).second) continue;
    auto found = state_->derivations.find(path);
    if (found == state_->derivations.end()) {
      return absl::NotFoundError(absl::StrCat("the derivation ", path, " is not in the record"));
    }
    const nix::Derivation& derivation = found->second->parsed;
    if (inputs_done) {
      DerivationFileView file{.path = path, .aterm = found->second->aterm};
      for (const auto& [input, outputs] : derivation.input_derivations) file.references.push_back(input);
      for (const std::string& source : derivation.input_sources) file.references.push_back(source);
      files.push_back(std::move(file));
      continue;
    }
    stack.emplace_back(path, true);
    for (const auto& [input, outputs] : derivation.input_derivations) stack.emplace_back(input, false);
  }
  return files;
}

absl::Status Coordinator::Drain(const std::string& worker, bool drain) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    const Worker* found = state_->workers.Find(worker);
    if (found == nullptr) return state_->workers.Drain(worker, drain);  // NotFound names the nearest
    decision.Record(SaveWorker{{.name = worker, .offer = found->offer, .drained_by_operator = drain,
                                .revoked = found->state == WorkerState::kRevoked, .seen_at = found->seen_at}});
    decision.Then([worker, drain](FarmState& state) { (void)state.workers.Drain(worker, drain); });
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  NoteUnplaceable();
  Advance();
  return absl::OkStatus();
}

}  // namespace hydrant
