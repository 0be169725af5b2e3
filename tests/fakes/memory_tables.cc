#include "tests/fakes/memory_tables.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "daemon/record/utf8.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

template <class Map, class Key>
auto Lookup(Map& map, const Key& key) -> decltype(&map.begin()->second) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

absl::Status Refused(std::string_view change, std::string_view key, std::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat(AbslView(change), " ", AbslView(key), ": ", AbslView(what)));
}

absl::Status CheckTexts(std::string_view change, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (!IsCleanUtf8(text))
      return absl::InvalidArgumentError(absl::StrCat(AbslView(change), ": a text is not UTF-8 without NUL"));
  }
  return absl::OkStatus();
}

absl::Time Cut(absl::Time time) {
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return time;
  return absl::FromUnixMicros(absl::ToUnixMicros(time));
}

absl::Duration Cut(absl::Duration duration) { return absl::Trunc(duration, absl::Microseconds(1)); }

absl::Status CheckEvaluation(std::string_view change, const EvaluationRecord& evaluation) {
  if (IsFinal(evaluation.state) == (evaluation.settled_at != absl::InfiniteFuture())) return absl::OkStatus();
  return Refused(change, absl::StrCat(evaluation.id.value), "settled_at belongs to the final states");
}

absl::Status CheckStep(std::string_view change, const std::string& key, StepState state,
                       const StepDetail& detail) {
  HYDRANT_RETURN_IF_ERROR(CheckTexts(change, {key, detail.root, detail.held_by}));
  if (state == StepState::kFailed && detail.cause == Cause::kNone)
    return Refused(change, key, "failed without a cause");
  return absl::OkStatus();
}

StepRecord Kept(StepRecord step) {
  step.detail.message = CleanUtf8(step.detail.message);
  step.detail.not_before = Cut(step.detail.not_before);
  return step;
}

absl::Status CheckCheck(std::string_view change, const CheckRecord& check) {
  HYDRANT_RETURN_IF_ERROR(
      CheckTexts(change, {check.key, check.name, check.output_path, check.environment_path,
                          check.wanted_architecture, check.architecture, check.driver}));
  for (const std::string& word : check.command) HYDRANT_RETURN_IF_ERROR(CheckTexts(change, {word}));
  if (check.key.empty()) return Refused(change, check.key, "its key is empty");
  if (check.timeout < absl::Microseconds(1)) return Refused(change, check.key, "its timeout is not above 0");
  if (check.state == CheckState::kFailed && check.cause == Cause::kNone)
    return Refused(change, check.key, "failed without a cause");
  if (check.state == CheckState::kPassed && check.cause != Cause::kNone)
    return Refused(change, check.key, "passed with a cause");
  return absl::OkStatus();
}

CheckRecord Kept(CheckRecord check) {
  check.message = CleanUtf8(check.message);
  check.timeout = Cut(check.timeout);
  return check;
}

AttemptResult Kept(AttemptResult result) {
  result.message = CleanUtf8(result.message);
  for (absl::Duration* d : {&result.fetching, &result.building, &result.pushing, &result.cpu}) *d = Cut(*d);
  result.ended_at = Cut(result.ended_at);
  return result;
}

}  // namespace

template <class Value>
void MemoryTables::Set(Value& place, Value value) {
  undo_.push_back([&place, before = place] { place = before; });
  place = std::move(value);
}

template <class Key, class Value>
void MemoryTables::Put(std::map<Key, Value>& table, const Key& key, Value value) {
  if (Value* there = Lookup(table, key)) return Set(*there, std::move(value));
  undo_.push_back([&table, key] { table.erase(key); });
  table.emplace(key, std::move(value));
}

absl::Status MemoryTables::Commit(const Batch& batch) {
  undo_.clear();
  absl::Status status;
  for (const Change& change : batch) {
    status = std::visit([this](const auto& c) { return Apply(c); }, change);
    if (!status.ok()) break;
  }
  if (!status.ok()) {
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
  }
  undo_.clear();
  return status;
}

absl::Status MemoryTables::Apply(const SaveMatrix& change) {
  const auto& [matrix, text] = change;
  HYDRANT_RETURN_IF_ERROR(
      CheckTexts("save_matrix", {matrix.name, matrix.digest, text.toml, text.directory, text.file}));
  if (!texts_.contains(text.digest)) Put(texts_, text.digest, text);
  if (matrix.name.empty()) return Refused("save_matrix", matrix.name, "its name is empty");
  if (!texts_.contains(matrix.digest)) return Refused("save_matrix", matrix.name, "there is no such text");
  MatrixRecord kept = matrix;
  kept.applied_at = Cut(matrix.applied_at);
  Put(matrices_, matrix.name, kept);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const CreateEvaluation& change) {
  EvaluationRecord kept = change.evaluation;
  HYDRANT_RETURN_IF_ERROR(
      CheckTexts("create_evaluation", {kept.matrix, kept.digest, kept.only, kept.revision, kept.branch,
                                       kept.wanted_revision}));
  const std::string key = absl::StrCat(kept.id.value);
  if (kept.id <= last_evaluation_) return Refused("create_evaluation", key, "its number was given before");
  if (!matrices_.contains(kept.matrix)) return Refused("create_evaluation", key, "there is no such matrix");
  if (!texts_.contains(kept.digest)) return Refused("create_evaluation", key, "there is no such text");
  HYDRANT_RETURN_IF_ERROR(CheckEvaluation("create_evaluation", kept));
  kept.message = CleanUtf8(kept.message);
  kept.requested_at = Cut(kept.requested_at);
  kept.settled_at = Cut(kept.settled_at);
  Set(last_evaluation_, kept.id);
  Put(evaluations_, kept.id, kept);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const MoveEvaluation& change) {
  HYDRANT_RETURN_IF_ERROR(CheckTexts("move_evaluation", {change.revision}));
  const EvaluationRecord* there = Lookup(evaluations_, change.id);
  if (there == nullptr || there->state != change.from) {
    return Refused("move_evaluation", absl::StrCat(change.id.value),
                   absl::StrCat("is not ", AbslView(EvaluationStateName(change.from))));
  }
  EvaluationRecord moved = *there;
  moved.state = change.to;
  moved.revision = change.revision;
  moved.message = CleanUtf8(change.message);
  moved.settled_at = Cut(change.settled_at);
  moved.gate_passed = change.gate_passed;
  HYDRANT_RETURN_IF_ERROR(CheckEvaluation("move_evaluation", moved));
  Put(evaluations_, change.id, moved);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const SaveDerivedList& change) {
  DerivedListRecord kept = change.list;
  HYDRANT_RETURN_IF_ERROR(CheckTexts("save_derived_list", {kept.revision}));
  for (const std::string& package : kept.packages) {
    HYDRANT_RETURN_IF_ERROR(CheckTexts("save_derived_list", {package}));
  }
  const std::string key = absl::StrCat(kept.evaluation.value);
  if (kept.revision.empty()) return Refused("save_derived_list", key, "its revision is empty");
  if (!evaluations_.contains(kept.evaluation)) return Refused("save_derived_list", key, "there is no such evaluation");
  for (std::string& note : kept.notes) note = CleanUtf8(note);
  Put(derived_lists_, kept.evaluation, kept);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const SaveVariants& change) {
  for (VariantRecord kept : change.variants) {
    HYDRANT_RETURN_IF_ERROR(
        CheckTexts("save_variants", {kept.id, kept.package, kept.slice_json, kept.derivation,
                                     kept.environment, kept.environment_output, kept.facts_json}));
    if (kept.id.empty() || kept.ordinal < 0)
      return Refused("save_variants", kept.id, "its id or ordinal is no such");
    if (!evaluations_.contains(kept.evaluation))
      return Refused("save_variants", kept.id, "there is no such evaluation");
    if (kept.derivation.empty() != (kept.cause != Cause::kNone)) {
      return Refused("save_variants", kept.id, "has not one of derivation and cause");
    }
    if (!kept.tier.empty() && kept.tier != "public" && kept.tier != "private") {
      return Refused("save_variants", kept.id, "its tier is no such");
    }
    for (Finding& finding : kept.findings) {
      HYDRANT_RETURN_IF_ERROR(CheckTexts("save_findings", {finding.rule}));
      for (const std::string& name : finding.path) HYDRANT_RETURN_IF_ERROR(CheckTexts("save_findings", {name}));
      if (finding.rule.empty()) return Refused("save_findings", kept.id, "a finding is of no rule");
      finding.message = CleanUtf8(finding.message);
    }
    kept.message = CleanUtf8(kept.message);
    Put(variants_, {kept.evaluation, kept.id}, kept);
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const SaveDerivations& change) {
  for (const DerivationRecord& derivation : change.derivations) {
    HYDRANT_RETURN_IF_ERROR(CheckTexts("save_derivations", {derivation.path}));
    if (derivation.path.empty()) return Refused("save_derivations", derivation.path, "its path is empty");
    if (!derivations_.contains(derivation.path)) Put(derivations_, derivation.path, derivation);
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const CreateSteps& change) {
  for (const StepRecord& step : change.steps) {
    HYDRANT_RETURN_IF_ERROR(CheckStep("create_steps", step.derivation, step.state, step.detail));
    if (steps_.contains(step.derivation)) return Refused("create_steps", step.derivation, "is there already");
    if (!derivations_.contains(step.derivation))
      return Refused("create_steps", step.derivation, "there is no such derivation");
    Put(steps_, step.derivation, Kept(step));
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const MoveSteps& change) {
  for (const MoveSteps::Move& move : change.moves) {
    HYDRANT_RETURN_IF_ERROR(CheckStep("move_steps", move.derivation, move.to, move.detail));
    const StepRecord* there = Lookup(steps_, move.derivation);
    if (there == nullptr || there->state != move.from) {
      return Refused("move_steps", move.derivation, "is not in the state that the move expects");
    }
    Put(steps_, move.derivation, Kept(StepRecord{move.derivation, move.to, move.detail}));
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const CreateChecks& change) {
  for (const CheckRecord& check : change.checks) {
    HYDRANT_RETURN_IF_ERROR(CheckCheck("create_checks", check));
    if (!checks_.contains(check.key)) Put(checks_, check.key, Kept(check));
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const MoveCheck& change) {
  HYDRANT_RETURN_IF_ERROR(CheckCheck("move_check", change.check));
  const CheckRecord* there = Lookup(checks_, change.check.key);
  if (there == nullptr || there->state != change.from) {
    return Refused("move_check", change.check.key,
                   absl::StrCat("is not ", AbslView(CheckStateName(change.from))));
  }
  Put(checks_, change.check.key, Kept(change.check));
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const GrantLease& change) {
  Lease lease = change.lease;
  const std::string key = absl::StrCat("attempt ", lease.attempt.value);
  const auto& [derivation, check] = lease.subject;
  HYDRANT_RETURN_IF_ERROR(
      CheckTexts("grant_lease", {derivation, check, lease.worker, lease.instance, lease.gpu_uuid}));
  if (lease.attempt <= last_attempt_ || lease.token <= last_token_) {
    return Refused("grant_lease", key, "its number or token was given before");
  }
  if (derivation.empty() == check.empty()) return Refused("grant_lease", key, "is not of one step or check");
  if (derivation.empty() ? !checks_.contains(check) : !steps_.contains(derivation)) {
    return Refused("grant_lease", key, "there is no such step or check");
  }
  if (lease.worker.empty()) return Refused("grant_lease", key, "its worker is empty");
  if (lease.stage == AttemptStage::kEnded) return Refused("grant_lease", key, "is ended without an outcome");
  for (const auto& [subject, attempt] : live_) {
    if (!attempt) continue;
    const Lease& other = attempts_.at(attempt).lease;
    if (subject == lease.subject ||
        (!lease.gpu_uuid.empty() && other.worker == lease.worker && other.gpu_uuid == lease.gpu_uuid)) {
      return Refused("grant_lease", key, "its subject or GPU has a live lease");
    }
  }
  for (absl::Time* time : {&lease.granted_at, &lease.expires_at, &lease.stage_at}) *time = Cut(*time);
  Set(last_attempt_, lease.attempt);
  Set(last_token_, lease.token);
  Put(attempts_, lease.attempt, AttemptRecord{lease, {}});
  Put(live_, lease.subject, lease.attempt);
  return absl::OkStatus();
}

const AttemptRecord* MemoryTables::FindLive(AttemptId attempt, LeaseToken token) const {
  const AttemptRecord* there = FindAttempt(attempt);
  return there != nullptr && there->result.outcome.empty() && there->lease.token == token ? there : nullptr;
}

absl::Status MemoryTables::Apply(const AdvanceAttempt& change) {
  const AttemptRecord* there = FindLive(change.attempt, change.token);
  const std::string key = absl::StrCat("attempt ", change.attempt.value);
  if (there == nullptr || there->lease.stage > change.stage) {
    return Refused("advance_attempt", key,
                   "there is no live lease of that token, or it is beyond that stage");
  }
  if (change.stage == AttemptStage::kEnded)
    return Refused("advance_attempt", key, "is ended without an outcome");
  AttemptRecord advanced = *there;
  advanced.lease.stage = change.stage;
  if (change.at != absl::InfinitePast()) advanced.lease.stage_at = Cut(change.at);
  Put(attempts_, change.attempt, advanced);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const RenewLeases& change) {
  for (const AttemptId attempt : change.attempts) {
    const AttemptRecord* there = FindAttempt(attempt);
    if (there == nullptr || !there->result.outcome.empty()) continue;
    AttemptRecord renewed = *there;
    renewed.lease.expires_at = std::max(renewed.lease.expires_at, Cut(change.expires_at));
    Put(attempts_, attempt, renewed);
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const EndAttempt& change) {
  const AttemptRecord* there = FindLive(change.attempt, change.token);
  const std::string key = absl::StrCat("attempt ", change.attempt.value);
  if (there == nullptr) return Refused("end_attempt", key, "there is no live lease of that token");
  const auto is_one_of = [](const std::string& word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const std::string& outcome = change.result.outcome;
  if (!is_one_of(outcome, {"succeeded", "failed", "cancelled", "lost"}) ||
      !is_one_of(change.lease_end, {"released", "expired", "revoked"})) {
    return absl::InvalidArgumentError(
        absl::StrCat("end_attempt ", key, ": no outcome or lease end is named so"));
  }
  if (outcome == "failed" && change.result.cause == Cause::kNone)
    return Refused("end_attempt", key, "failed without a cause");
  if (outcome == "succeeded" && change.result.cause != Cause::kNone)
    return Refused("end_attempt", key, "succeeded with a cause");
  AttemptRecord ended = *there;
  ended.result = Kept(change.result);
  ended.lease.stage = AttemptStage::kEnded;
  ended.lease.stage_at = ended.result.ended_at;
  Put(live_, ended.lease.subject, AttemptId{});
  Put(attempts_, change.attempt, ended);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const StageNarInfo& change) {
  NarInfoRecord kept = change.info;
  HYDRANT_RETURN_IF_ERROR(CheckTexts("stage_narinfo", {kept.path, kept.compression, kept.file_hash,
                                                       kept.nar_hash, kept.deriver, kept.content_address}));
  const NarInfoRecord* there = Lookup(narinfos_, kept.path);
  if (there != nullptr && there->state != NarInfoState::kRetired) {
    return Refused("stage_narinfo", kept.path, "is staged or published already");
  }
  const bool is_signed = !kept.signatures.empty(), is_published = kept.published_at != absl::InfiniteFuture();
  if (kept.path.empty() || kept.file_hash.empty() || kept.nar_hash.empty() || kept.file_size < 0 ||
      kept.nar_size < 0 || (kept.state == NarInfoState::kStaged && (is_signed || is_published)) ||
      (kept.state == NarInfoState::kPublished && !(is_signed && is_published))) {
    return Refused("stage_narinfo", kept.path,
                   "is empty, or signatures and published_at are not of its state");
  }
  kept.staged_at = Cut(kept.staged_at);
  kept.published_at = Cut(kept.published_at);
  Put(narinfos_, kept.path, kept);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const PublishNarInfos& change) {
  for (const auto& [path, signatures, tier] : change.entries) {
    const NarInfoRecord* there = Lookup(narinfos_, path);
    if (there == nullptr || there->state != NarInfoState::kStaged)
      return Refused("publish_narinfos", path, "is not staged");
    if (signatures.empty()) return Refused("publish_narinfos", path, "has no signature");
    NarInfoRecord published = *there;
    published.state = NarInfoState::kPublished;
    published.signatures = signatures;
    published.tier = tier;
    published.published_at = Cut(change.at);
    Put(narinfos_, path, published);
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const OpenNarInfos& change) {
  for (const std::string& path : change.paths) {
    const NarInfoRecord* there = Lookup(narinfos_, path);
    if (there == nullptr || there->state != NarInfoState::kPublished || there->tier != NarInfoTier::kHeld)
      return Refused("open_narinfos", path, "is not held");
    NarInfoRecord opened = *there;
    opened.tier = NarInfoTier::kPublic;
    Put(narinfos_, path, opened);
  }
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const MoveChannel& change) {
  ChannelRecord kept = change.channel;
  HYDRANT_RETURN_IF_ERROR(CheckTexts("move_channel", {kept.name, kept.matrix, kept.revision}));
  const ChannelRecord* there = Lookup(channels_, kept.name);
  const EvaluationId at = there != nullptr ? there->evaluation : EvaluationId{};
  if (at != change.from || kept.evaluation <= at) {
    return Refused("move_channel", kept.name,
                   absl::StrCat("is at evaluation ", at.value, ", or the new one is not newer"));
  }
  if (kept.name.empty() || !matrices_.contains(kept.matrix) || !evaluations_.contains(kept.evaluation)) {
    return Refused("move_channel", kept.name, "there is no such matrix or evaluation");
  }
  kept.at = Cut(kept.at);
  Put(channels_, kept.name, kept);
  return absl::OkStatus();
}

absl::Status MemoryTables::Apply(const SaveWorker& change) {
  WorkerRecord kept = change.worker;
  HYDRANT_RETURN_IF_ERROR(CheckTexts("save_worker", {kept.name, kept.offer.version, kept.offer.nix_version}));
  for (const OfferedGpu& gpu : kept.offer.gpus) {
    HYDRANT_RETURN_IF_ERROR(CheckTexts("save_worker", {gpu.uuid, gpu.name, gpu.architecture, gpu.driver}));
  }
  if (kept.name.empty()) return Refused("save_worker", kept.name, "its name is empty");
  const WorkerRecord* there = Lookup(workers_, kept.name);
  if (there != nullptr && there->revoked && !kept.revoked)
    return Refused("save_worker", kept.name, "is revoked for good");
  kept.seen_at = Cut(kept.seen_at);
  Put(workers_, kept.name, kept);
  return absl::OkStatus();
}

const AttemptRecord* MemoryTables::FindAttempt(AttemptId id) const { return Lookup(attempts_, id); }

}  // namespace hydrant
