// Attempts: what their workers report, what comes of it, and what they may do under their lease.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

std::string OutcomeOf(Cause cause) {
  if (cause == Cause::kNone) return "succeeded";
  if (cause == Cause::kCancelled) return "cancelled";
  if (cause == Cause::kLost) return "lost";
  return "failed";
}

}  // namespace

absl::Status Coordinator::CheckLease(AttemptId attempt, LeaseToken token) const {
  MutexLock lock(mu_);
  HYDRANT_RETURN_IF_ERROR(Loaded());
  return state_->leases.Check(attempt, token).status();
}

absl::Status Coordinator::ReportStage(AttemptId attempt, LeaseToken token, AttemptStage stage) {
  HYDRANT_RETURN_IF_ERROR(Ready());
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  const absl::Time now = options_.clock.Now();
  Decision decision;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(const Lease* lease, state_->leases.Check(attempt, token));
    if (lease->stage >= stage) return absl::OkStatus();
    if (stage == AttemptStage::kEnded) return absl::InvalidArgumentError("an end is reported with its result");
    decision.Record(AdvanceAttempt{.attempt = attempt, .token = token, .stage = stage, .at = now});
    decision.Then([=](FarmState& state) { (void)state.leases.Advance(attempt, token, stage, now); });
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  if (stage == AttemptStage::kPushing) Advance();  // its slot is free
  return absl::OkStatus();
}

absl::Status Coordinator::ReportEnd(AttemptId attempt, LeaseToken token, const ReportedEnd& end) {
  HYDRANT_RETURN_IF_ERROR(Ready());
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    if (state_->leases.Released(attempt, token)) return absl::OkStatus();  // said again: the answer was lost
    HYDRANT_ASSIGN_OR_RETURN(const Lease* lease, state_->leases.Check(attempt, token));
    if (end.result.cause == Cause::kNone && !lease->subject.derivation.empty()) {
      auto step = state_->graph.Find(lease->subject.derivation);
      std::string missing;
      if (step && !OutputsHeld(*step, &missing)) {
        return absl::FailedPreconditionError(absl::StrCat("the output ", missing, " was not uploaded"));
      }
    }
    HYDRANT_RETURN_IF_ERROR(
        PlanEnd(decision, *lease, {.lease_end = "released", .result = end.result, .gpu = end.gpu}));
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  Advance();
  return absl::OkStatus();
}

absl::Status Coordinator::PlanEnd(Decision& decision, const Lease& lease, End end) const {
  const absl::Time now = options_.clock.Now();
  AttemptResult& result = end.result;
  result.outcome = OutcomeOf(result.cause);
  result.ended_at = now;
  decision.Record(EndAttempt{.attempt = lease.attempt, .token = lease.token, .lease_end = end.lease_end, .result = result});
  if (lease.subject.check.empty()) {
    HYDRANT_RETURN_IF_ERROR(PlanStepEnd(decision, lease, result));
  } else {
    HYDRANT_RETURN_IF_ERROR(PlanCheckEnd(decision, lease, result, end.gpu));
  }
  const bool well = result.outcome == "succeeded" || IsPackageFault(result.cause);
  const bool badly = end.blames_worker && IsRetryable(result.cause);
  const bool released = end.lease_end == "released";
  const std::string work = lease.subject.derivation + lease.subject.check;
  decision.Then([attempt = lease.attempt, worker = lease.worker, work, released, well, badly, now](FarmState& state) {
    released ? state.leases.Release(attempt) : state.leases.End(attempt);
    state.renewed.erase(attempt);
    if (well) state.workers.Succeeded(worker);
    if (badly && state.workers.FailedByFarm(worker, work, now)) {
      Log(LogLevel::kWarning, "worker quarantined: different work fails there by the farm's fault", {{"worker", worker}});
    }
  });
  decision.Tell([result](FarmObserver& observer) { observer.AttemptEnded(result); });
  return absl::OkStatus();
}

int64_t Coordinator::OutputBytes(StepId step) const {
  int64_t bytes = 0;
  for (const auto& [name, path] : state_->graph.spec(step).outputs) {
    const auto info = options_.catalogue.FindPath(path);
    if (info == nullptr) return 0;
    bytes += info->nar_size;
  }
  return bytes;
}

absl::Status Coordinator::PlanStepEnd(Decision& decision, const Lease& lease, const AttemptResult& result) const {
  auto found = state_->graph.Find(lease.subject.derivation);
  if (!found) return absl::InternalError(absl::StrCat("no step ", lease.subject.derivation));
  const StepId step = *found;
  // Also when the worker could not say so any more: what was verified and staged is not built again.
  if (result.cause == Cause::kNone || (!IsPackageFault(result.cause) && OutputsHeld(step, nullptr))) {
    const Cost cost{.building = result.building, .cpu = result.cpu, .bytes = OutputBytes(step)};
    decision.Then([step, cost](FarmState& state) {
      state.estimate.Observe(state.graph.spec(step).name, cost);
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
  const bool farms = given_back || IsRetryable(result.cause);
  if (result.cause != Cause::kNone && farms) {
    if (!given_back) ++after.failed_attempts;
    if (after.failed_attempts < options_.max_attempts) event = CheckEvent::kFailedByFarm;
  }
  if (!decision.MoveCheckBy(entry.record, event, after)) {
    return absl::FailedPreconditionError(absl::StrCat("the check ", after.name, " cannot end now"));
  }
  if (event == CheckEvent::kPassed) {
    decision.Then([after, running = result.building](FarmState& state) {
      state.estimate.ObserveCheck(after.name, NameOfPath(after.output_path), running);
    });
  }
  if (event == CheckEvent::kFailedByFarm) {
    const bool avoid = !given_back && result.cause != Cause::kLost;
    decision.Then([key = after.key, worker = lease.worker, avoid, now = options_.clock.Now()](FarmState& state) {
      CheckEntry& check = state.checks.at(key);
      check.ready_since = now;
      if (avoid) check.avoid.insert(worker);
    });
  } else {
    after.state = *NextCheckState(entry.record.state, event);
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
  std::set<std::string> blamed;
  for (const Lease& lease : expired) {
    Decision decision;
    {
      MutexLock lock(mu_);
      // It may have been renewed meanwhile: a renewal waits for nobody.
      const Lease* live = state_->leases.Find(lease.attempt);
      if (live == nullptr || live->expires_at > options_.clock.Now()) continue;
      const std::string why = absl::StrCat("the worker ", lease.worker, " was not heard of in time");
      absl::Status planned = PlanEnd(decision, lease, {.lease_end = "expired",
                                                       .result = {.cause = Cause::kLost, .message = why},
                                                       .blames_worker = blamed.insert(lease.worker).second});
      if (!planned.ok()) {
        Log(LogLevel::kError, "lease not expired", {{"attempt", lease.attempt.value}, {"reason", planned.ToString()}});
        continue;
      }
    }
    decision.Tell([](FarmObserver& observer) { observer.LeaseExpired(); });
    if (!Carry(std::move(decision)).ok()) return;
    Log(LogLevel::kWarning, "lease expired", {{"attempt", lease.attempt.value}, {"worker", lease.worker}});
  }
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
  HYDRANT_RETURN_IF_ERROR(Loaded());
  HYDRANT_ASSIGN_OR_RETURN(const Lease* lease, state_->leases.Check(attempt, token));
  if (lease->subject.derivation.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("attempt a", attempt.value, " is of a check: it has no derivations"));
  }
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

}  // namespace hydrant
