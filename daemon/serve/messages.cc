#include "daemon/serve/messages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {

int64_t ToMillis(absl::Time time) {
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return 0;
  return absl::ToUnixMillis(time);
}

v1::Evaluation ToMessage(const EvaluationRecord& record) {
  v1::Evaluation message;
  message.set_id(record.id.value);
  message.set_matrix(record.matrix);
  message.set_revision(record.revision);
  // The enum of the protocol has the same order, after its "unspecified".
  message.set_state(static_cast<v1::EvaluationState>(static_cast<int>(record.state) + 1));
  message.set_message(record.message);
  message.set_requested_at_ms(ToMillis(record.requested_at));
  message.set_settled_at_ms(ToMillis(record.settled_at));
  message.set_gate_passed(record.gate_passed);
  message.set_branch(record.branch);
  return message;
}

namespace {

v1::VariantStatus Base(const VariantRecord& record) {
  v1::VariantStatus message;
  message.set_id(record.id);
  message.set_package(record.package);
  message.set_slice_json(record.slice_json);
  message.set_derivation(record.derivation);
  for (const auto& [name, path] : record.outputs) (*message.mutable_outputs())[name] = path;
  return message;
}

}  // namespace

v1::VariantStatus ToMessage(const GridVariant& variant) {
  v1::VariantStatus message = Base(variant.record);
  const VariantView& view = variant.view;
  message.set_state(std::string(VariantStateName(view.state)));
  message.set_cause(view.cause);
  message.set_message(view.message);
  message.set_root(view.root);
  message.set_held_by(view.held_by);
  message.set_required(variant.required);
  SetFacts(variant.record, variant.facts.get(), variant.hydra, message);
  for (const CheckView& check : view.checks) {
    v1::CheckStatus* added = message.add_checks();
    added->set_name(check.name);
    added->set_outcome(check.outcome);
    added->set_class_(check.cause);
    added->set_architecture(check.architecture);
    added->set_driver(check.driver);
    added->set_simulated(check.simulated);
    added->set_message(check.message);
    added->set_attempt(check.attempt.value);
  }
  return message;
}

v1::VariantStatus ToMessage(const PlannedVariant& variant) {
  v1::VariantStatus message = Base(variant.record);
  message.set_state(variant.state);
  const bool failed = variant.cause != Cause::kNone;
  message.set_cause(std::string(CauseName(failed ? variant.cause : variant.record.cause)));
  message.set_message(failed ? variant.message : variant.record.message);
  message.set_root(variant.root);
  message.set_held_by(variant.held_by);
  SetFacts(variant.record, variant.facts.get(), variant.hydra, message);
  return message;
}

v1::AttemptStage ToMessage(AttemptStage stage) {
  switch (stage) {
    case AttemptStage::kLeased: return v1::ATTEMPT_STAGE_LEASED;
    case AttemptStage::kFetching: return v1::ATTEMPT_STAGE_FETCHING;
    case AttemptStage::kBuilding: return v1::ATTEMPT_STAGE_BUILDING;
    case AttemptStage::kPushing:
    case AttemptStage::kEnded: return v1::ATTEMPT_STAGE_PUSHING;
  }
  return v1::ATTEMPT_STAGE_UNSPECIFIED;
}

v1::RunningAttempt ToMessage(const RunningView& running) {
  v1::RunningAttempt message;
  message.set_attempt(running.lease.attempt.value);
  message.set_worker(running.lease.worker);
  message.set_what(running.what);
  message.set_stage(ToMessage(running.lease.stage));
  message.set_started_at_ms(ToMillis(running.lease.granted_at));
  return message;
}

v1::Offer ToMessage(const WorkerOffer& offer) {
  v1::Offer message;
  for (const std::string& system : offer.systems) message.add_systems(system);
  for (const std::string& feature : offer.features) message.add_features(feature);
  message.set_cores(offer.cores);
  message.set_memory_bytes(offer.memory_bytes);
  message.set_slots(offer.slots);
  for (const OfferedGpu& gpu : offer.gpus) {
    v1::Gpu* added = message.add_gpus();
    added->set_uuid(gpu.uuid);
    added->set_name(gpu.name);
    added->set_architecture(gpu.architecture);
    added->set_memory_bytes(gpu.memory_bytes);
    added->set_driver(gpu.driver);
    added->set_simulated(gpu.simulated);
  }
  message.set_version(offer.version);
  message.set_nix_version(offer.nix_version);
  return message;
}

v1::WorkerStatus ToMessage(const WorkerView& view) {
  v1::WorkerStatus message;
  message.set_name(view.worker.name);
  message.set_state(std::string(WorkerStateName(view.worker.state)));
  *message.mutable_offer() = ToMessage(view.worker.offer);
  message.set_busy_slots(view.busy_slots);
  for (const RunningView& running : view.running) *message.add_running() = ToMessage(running);
  message.set_seen_at_ms(ToMillis(view.worker.seen_at));
  return message;
}

v1::Channel ToMessage(const ChannelRecord& channel) {
  v1::Channel message;
  message.set_name(channel.name);
  message.set_matrix(channel.matrix);
  message.set_evaluation(channel.evaluation.value);
  message.set_revision(channel.revision);
  message.set_at_ms(ToMillis(channel.at));
  return message;
}

v1::MatrixSummary ToMessage(const MatrixView& matrix) {
  v1::MatrixSummary message;
  message.set_name(matrix.name);
  message.set_reason(matrix.reason);
  message.set_variants(matrix.variants);
  if (matrix.evaluation) *message.mutable_evaluation() = ToMessage(*matrix.evaluation);
  for (const auto& [state, count] : matrix.totals) (*message.mutable_totals())[state] = count;
  for (const BranchView& branch : matrix.branches) {
    v1::BranchSummary* summary = message.add_branches();
    summary->set_branch(branch.branch);
    if (branch.evaluation) *summary->mutable_evaluation() = ToMessage(*branch.evaluation);
    for (const auto& [state, count] : branch.totals) (*summary->mutable_totals())[state] = count;
  }
  return message;
}

v1::ExplainResponse ToMessage(const ExplainView& view) {
  v1::ExplainResponse message;
  if (view.variant) *message.mutable_variant() = ToMessage(*view.variant);
  message.set_derivation(view.derivation);
  message.set_step_state(view.step_state);
  message.set_reason(view.reason);
  for (const std::string& path : view.chain) message.add_chain(path);
  for (const std::string& path : view.waits_for) message.add_waits_for(path);
  for (const std::string& id : view.shared_with) message.add_shared_with(id);
  message.set_shared_with_count(view.shared_with_count);
  for (const auto& [worker, rule] : view.workers) {
    v1::WorkerVerdict* verdict = message.add_workers();
    verdict->set_worker(worker);
    verdict->set_rule(rule);
  }
  for (const AttemptRecord& attempt : view.attempts) {
    v1::AttemptSummary* summary = message.add_attempts();
    summary->set_attempt(attempt.lease.attempt.value);
    summary->set_worker(attempt.lease.worker);
    const bool live = attempt.result.outcome.empty();
    summary->set_outcome(live ? "running" : attempt.result.outcome);
    summary->set_cause(std::string(CauseName(attempt.result.cause)));
    summary->set_message(attempt.result.message);
    summary->set_started_at_ms(ToMillis(attempt.lease.granted_at));
    summary->set_ended_at_ms(live ? 0 : ToMillis(attempt.result.ended_at));
  }
  return message;
}

v1::Assignment ToMessage(const Assignment& assignment, absl::Duration lease) {
  v1::Assignment message;
  message.set_attempt(assignment.lease.attempt.value);
  message.set_token(assignment.lease.token.value);
  message.set_lease_s(absl::ToInt64Seconds(lease));
  message.set_gpu_uuid(assignment.lease.gpu_uuid);
  v1::AttemptLimits* limits = nullptr;
  if (assignment.check) {
    v1::CheckWork* check = message.mutable_check();
    check->set_name(assignment.check->name);
    check->set_output_path(assignment.check->output_path);
    check->set_environment_path(assignment.check->environment_path);
    for (const std::string& word : assignment.check->command) check->add_command(word);
    check->set_gpu(assignment.check->gpu);
    limits = check->mutable_limits();
  } else {
    v1::StepWork* step = message.mutable_step();
    step->set_derivation_path(assignment.lease.subject.derivation);
    step->set_aterm(assignment.derivation->aterm);
    for (const std::string& path : assignment.input_paths) step->add_input_paths(path);
    step->set_needs_derivation_closure(assignment.needs_closure);
    limits = step->mutable_limits();
  }
  limits->set_timeout_s(absl::ToInt64Seconds(assignment.limits.timeout));
  limits->set_max_silent_s(absl::ToInt64Seconds(assignment.limits.max_silent));
  limits->set_max_log_bytes(static_cast<int64_t>(assignment.limits.max_log));
  limits->set_max_output_bytes(static_cast<int64_t>(assignment.limits.max_output));
  limits->set_memory_bytes(static_cast<int64_t>(assignment.limits.memory));
  return message;
}

MatrixTextRecord FromMessage(const v1::MatrixText& text) {
  MatrixTextRecord record{.toml = text.toml(), .directory = text.directory(),
                          .file = text.file().empty() ? "matrix" : text.file()};
  for (const auto& [path, bytes] : text.files()) record.files[path] = bytes;
  return record;
}

OfferedGpu FromMessage(const v1::Gpu& gpu) {
  return {.uuid = gpu.uuid(), .name = gpu.name(), .architecture = gpu.architecture(),
          .memory_bytes = gpu.memory_bytes(), .driver = gpu.driver(), .simulated = gpu.simulated()};
}

WorkerOffer FromMessage(const v1::Offer& message) {
  WorkerOffer offer;
  offer.systems.insert(message.systems().begin(), message.systems().end());
  offer.features.insert(message.features().begin(), message.features().end());
  offer.cores = message.cores();
  offer.memory_bytes = message.memory_bytes();
  offer.slots = message.slots();
  for (const v1::Gpu& gpu : message.gpus()) offer.gpus.push_back(FromMessage(gpu));
  offer.version = message.version();
  offer.nix_version = message.nix_version();
  return offer;
}

SyncRequest FromMessage(const v1::SynchronizeRequest& message) {
  SyncRequest request{.name = message.name(), .instance = message.instance(), .offer = FromMessage(message.offer()),
                      .draining = message.draining(), .leaving = message.leaving()};
  for (const v1::HeldAttempt& held : message.held()) {
    request.held.push_back({.attempt = {held.attempt()}, .token = {held.token()}});
  }
  return request;
}

absl::StatusOr<ReportedEnd> FromMessage(const v1::AttemptEnd& message) {
  ReportedEnd end;
  if (!message.cause().empty()) {
    std::optional<Cause> cause = ParseCause(message.cause());
    if (!cause) return absl::InvalidArgumentError(absl::StrCat("end.cause: '", message.cause(), "' is no cause"));
    end.result.cause = *cause;
  }
  end.result.message = message.message().substr(0, 4096);
  end.result.fetching = absl::Milliseconds(message.fetching_ms());
  end.result.building = absl::Milliseconds(message.building_ms());
  end.result.pushing = absl::Milliseconds(message.pushing_ms());
  end.result.cpu = absl::Milliseconds(message.cpu_ms());
  end.result.max_memory_bytes = message.max_memory_bytes();
  end.result.log_bytes = message.log_bytes();
  if (message.has_gpu()) end.gpu = FromMessage(message.gpu());
  return end;
}

}  // namespace hydrant
