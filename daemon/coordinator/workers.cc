// Workers: who is there, which leases they hold, and what to do next; the lease conversation from the farm's side.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/decision.h"
#include "daemon/record/utf8.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

uint64_t LargerBound(uint64_t a, uint64_t b) { return a == 0 || b == 0 ? 0 : std::max(a, b); }  // 0: none

void Widen(std::optional<Limits>& limits, const Limits& wanted) {
  if (!limits) {
    limits = wanted;
    return;
  }
  limits->timeout = std::max(limits->timeout, wanted.timeout);
  limits->max_silent = std::max(limits->max_silent, wanted.max_silent);
  limits->max_log = LargerBound(limits->max_log, wanted.max_log);
  limits->max_output = LargerBound(limits->max_output, wanted.max_output);
  limits->memory = LargerBound(limits->memory, wanted.memory);
}

// The largest bounds of all that want it: of a variant's own step those of its package, of a dependency the matrix's.
Limits LimitsOfStep(const FarmState& state, StepId root) {
  std::optional<Limits> limits;
  ForEachUser(state, root, [&](const EvaluationEntry& evaluation, const VariantEntry& variant, StepId own) {
    if (!evaluation.wanting || variant.record.cause != Cause::kNone) return;
    const Matrix& matrix = evaluation.declared->matrix;
    const Variant& declared = evaluation.expansion().variants[variant.record.ordinal];
    Widen(limits, own == root ? LimitsOf(matrix, declared) : matrix.limits);
  });
  return limits.value_or(Limits());
}

// As the matrices that ask for it say now: its own record keeps what was said when it was made.
absl::Duration TimeoutOf(const FarmState& state, const CheckEntry& check) {
  absl::Duration timeout = absl::ZeroDuration();
  for (const VariantRef& ref : check.users) {
    const EvaluationEntry& evaluation = state.evaluations.at(ref.evaluation);
    if (!evaluation.wanting) continue;
    for (const CheckSpec& spec : evaluation.declared->matrix.checks) {
      if (spec.name == check.record.name) timeout = std::max(timeout, spec.timeout);
    }
  }
  return timeout > absl::ZeroDuration() ? timeout : check.record.timeout;
}

absl::Status CheckTexts(const SyncRequest& request) {
  std::vector<std::string> texts = {request.instance, request.offer.version, request.offer.nix_version};
  texts.insert(texts.end(), request.offer.systems.begin(), request.offer.systems.end());
  texts.insert(texts.end(), request.offer.features.begin(), request.offer.features.end());
  for (const OfferedGpu& gpu : request.offer.gpus) {
    texts.insert(texts.end(), {gpu.uuid, gpu.name, gpu.architecture, gpu.driver});
  }
  if (std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return IsCleanUtf8(text); })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the worker's instance or offer: expected UTF-8 without NUL");
}

}  // namespace

absl::StatusOr<SyncReply> Coordinator::Synchronize(const SyncRequest& request) {
  std::vector<Lease> forgotten;
  bool news = false;
  {
    MutexLock lock(mu_);
    HYDRANT_RETURN_IF_ERROR(Loaded());
    HYDRANT_ASSIGN_OR_RETURN(news, See(request));
    std::set<AttemptId> held;
    for (const HeldLease& lease : request.held) held.insert(lease.attempt);
    for (const Lease* lease : state_->leases.OfWorker(request.name)) {
      const bool gone = lease->instance != request.instance || request.leaving;
      if (gone && !held.contains(lease->attempt)) forgotten.push_back(*lease);
    }
  }
  if (news || !forgotten.empty()) {
    MutexLock door(door_);
    HYDRANT_RETURN_IF_ERROR(Fresh());
    HYDRANT_RETURN_IF_ERROR(RecordWorkers());
    HYDRANT_RETURN_IF_ERROR(
        EndForgotten(forgotten, absl::StrCat("the worker ", request.name, request.leaving ? " left" : " restarted")));
    NoteUnplaceable();
    Announce();
    Advance();
  }
  return PendingFor(request);
}

absl::StatusOr<bool> Coordinator::See(const SyncRequest& request) {
  HYDRANT_RETURN_IF_ERROR(CheckTexts(request));
  const absl::Time now = options_.clock.Now();
  FarmState& state = *state_;
  const Worker* before = state.workers.Find(request.name);
  const bool other_offer = before == nullptr || before->offer != request.offer;
  const WorkerState state_before = before == nullptr ? WorkerState::kGone : before->state;
  HYDRANT_ASSIGN_OR_RETURN(const bool returned, state.workers.Seen(request.name, request.instance, request.offer,
                                                                   request.draining, now));
  for (const HeldLease& lease : request.held) {
    if (state.leases.Renew(lease.attempt, lease.token, now).ok()) state.renewed.insert(lease.attempt);
  }
  if (request.leaving) state.workers.Leave(request.name);
  if (returned || other_offer) state.unsaved_workers.insert(request.name);
  return returned || other_offer || request.leaving || state.workers.Find(request.name)->state != state_before;
}

absl::Status Coordinator::RecordWorkers() {
  std::vector<WorkerRecord> records;
  {
    MutexLock lock(mu_);
    for (const std::string& name : state_->unsaved_workers) {
      const Worker& worker = *state_->workers.Find(name);
      records.push_back({.name = name, .offer = worker.offer, .drained_by_operator = worker.drained_by_operator,
                         .revoked = worker.state == WorkerState::kRevoked, .seen_at = worker.seen_at});
    }
  }
  for (const WorkerRecord& record : records) {
    HYDRANT_RETURN_IF_ERROR(Record({SaveWorker{record}}));
    MutexLock lock(mu_);
    // It may have offered something else meanwhile.
    if (state_->workers.Find(record.name)->offer == record.offer) state_->unsaved_workers.erase(record.name);
  }
  return absl::OkStatus();
}

absl::Status Coordinator::EndForgotten(const std::vector<Lease>& leases, const std::string& why) {
  bool first = true;
  for (const Lease& lease : leases) {
    Decision decision;
    {
      MutexLock lock(mu_);
      if (state_->leases.Find(lease.attempt) == nullptr) continue;
      // One death is one failure, however many leases it took along.
      HYDRANT_RETURN_IF_ERROR(PlanEnd(decision, lease, {.lease_end = "revoked",
                                                        .result = {.cause = Cause::kLost, .message = why},
                                                        .blames_worker = std::exchange(first, false)}));
    }
    HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  }
  return absl::OkStatus();
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
    // The worker ended it itself and will hear so: nothing to stop.
    if (state_->leases.Released(lease.attempt, lease.token)) continue;
    auto current = state_->leases.Check(lease.attempt, lease.token);
    if (!current.ok() || (*current)->worker != request.name) reply.revoked.push_back(lease.attempt);
  }
  for (const Lease* lease : state_->leases.OfWorker(request.name)) {
    if (held.contains(lease->attempt)) continue;
    // One that cannot be told must not keep the others from the worker: it expires.
    absl::StatusOr<Assignment> assignment = AssignmentOf(*lease);
    if (assignment.ok()) reply.assignments.push_back(*std::move(assignment));
  }
  return reply;
}

absl::StatusOr<Assignment> Coordinator::AssignmentOf(const Lease& lease) const {
  Assignment assignment;
  assignment.lease = lease;
  if (!lease.subject.check.empty()) {
    const CheckEntry& check = state_->checks.at(lease.subject.check);
    assignment.check = check.record;
    assignment.check->timeout = TimeoutOf(*state_, check);
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

absl::Status Coordinator::Drain(const std::string& worker, bool drain) {
  MutexLock door(door_);
  HYDRANT_RETURN_IF_ERROR(Fresh());
  Decision decision;
  {
    MutexLock lock(mu_);
    const Worker* found = state_->workers.Find(worker);
    // NotFound names the nearest.
    if (found == nullptr || found->state == WorkerState::kRevoked) return state_->workers.Drain(worker, drain);
    decision.Record(SaveWorker{{.name = worker, .offer = found->offer, .drained_by_operator = drain,
                                .seen_at = found->seen_at}});
    decision.Then([worker, drain](FarmState& state) { (void)state.workers.Drain(worker, drain); });
  }
  HYDRANT_RETURN_IF_ERROR(Carry(std::move(decision)));
  NoteUnplaceable();
  Advance();
  return absl::OkStatus();
}

}  // namespace hydrant
