// Memory from the record: what a restart does, and what follows any doubt about a commit.
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/coordinator/known_facts.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

absl::Status RestoreTexts(FarmState& state, std::vector<MatrixTextRecord> texts, const std::string& system) {
  for (MatrixTextRecord& text : texts) {
    const std::string digest = text.digest;
    const std::string file = text.file;
    auto declared = Declare(std::move(text), system);
    if (!declared.ok()) return Annotate(declared.status(), absl::StrCat("the recorded matrix ", file));
    state.declared[digest] = *std::move(declared);
  }
  return absl::OkStatus();
}

absl::Status RestoreGraph(FarmState& state, std::vector<DerivationRecord> derivations,
                          const std::vector<StepRecord>& steps) {
  for (DerivationRecord& record : derivations) {
    auto entry = std::make_shared<DerivationEntry>();
    auto parsed = nix::ParseDerivation(record.aterm);
    if (!parsed.ok()) return Annotate(parsed.status(), absl::StrCat("the recorded derivation ", record.path));
    entry->path = record.path;
    entry->aterm = std::move(record.aterm);
    entry->parsed = *std::move(parsed);
    state.derivations[record.path] = std::move(entry);
  }
  std::vector<StepSpec> specs;
  absl::flat_hash_map<std::string, StepGraph::Known> known;
  for (const StepRecord& step : steps) {
    auto found = state.derivations.find(step.derivation);
    if (found == state.derivations.end()) {
      return absl::DataLossError(absl::StrCat("the step ", step.derivation, " has no derivation in the record"));
    }
    specs.push_back(SpecOf(step.derivation, found->second->parsed));
    known[step.derivation] = {.state = step.state, .detail = step.detail};
  }
  return state.graph.Add(specs, known).status();
}

// The list that an evaluation derived; null when there is none of its revision. One list of many evaluations is kept once.
std::shared_ptr<const Derived> RestoreDerived(const FarmState& state, const EvaluationRecord& evaluation,
                                              const Declared& declared, DerivedListRecord list, const std::string& system) {
  if (!declared.matrix.derived || list.revision != evaluation.revision) return nullptr;
  const auto before = FindDerived(state, evaluation.digest, evaluation.revision);
  const bool same = before != nullptr && before->packages == list.packages && before->notes == list.notes;
  if (same && list.complete) return before;
  auto derived = ExpandDerived(declared, system, {.packages = std::move(list.packages), .notes = std::move(list.notes),
                                                  .complete = list.complete});
  if (derived.ok()) return *derived;
  Log(LogLevel::kWarning, "a recorded package list is of no use", {{"reason", derived.status().ToString()}});
  return nullptr;
}

// The record names the outcome; a variant that an evaluation began with but that has no row is still unknown.
absl::Status RestoreEvaluations(FarmState& state, std::vector<EvaluationRecord> evaluations,
                                std::vector<DerivedListRecord> lists, std::vector<VariantRecord> variants,
                                const std::string& system) {
  std::map<EvaluationId, DerivedListRecord> list_of;
  for (DerivedListRecord& list : lists) list_of[list.evaluation] = std::move(list);
  for (EvaluationRecord& record : evaluations) {
    auto declared = state.declared.find(record.digest);
    if (declared == state.declared.end()) {
      return absl::DataLossError(absl::StrCat("evaluation ", record.id.value, " has no text in the record"));
    }
    const EvaluationId id = record.id;
    auto derived = RestoreDerived(state, record, *declared->second, std::move(list_of[id]), system);
    state.evaluations[id] = NewEvaluationEntry(std::move(record), declared->second, std::move(derived));
  }
  // By id: one that began again at another revision has rows of packages that it has no more.
  absl::flat_hash_map<std::pair<int64_t, std::string>, VariantEntry*> places;
  for (auto& [id, evaluation] : state.evaluations) {
    for (VariantEntry& variant : evaluation.variants) places[{id.value, variant.record.id}] = &variant;
  }
  for (VariantRecord& record : variants) {
    auto place = places.find({record.evaluation.value, record.id});
    if (place == places.end()) continue;
    record.ordinal = place->second->record.ordinal;
    const EvaluationState at = state.evaluations.at(record.evaluation).record.state;
    const bool evaluates = at == EvaluationState::kRequested || at == EvaluationState::kEvaluating;
    // What an evaluator died of is tried again when its evaluation begins again.
    if (evaluates && IsEvaluatorDeath(record.cause)) continue;
    place->second->record = std::move(record);
    RecallFacts(*place->second);
    place->second->known = true;
  }
  for (auto& [id, evaluation] : state.evaluations) {
    for (size_t i = 0; i < evaluation.variants.size(); ++i) RelinkVariant(state, evaluation, i);
  }
  return absl::OkStatus();
}

void RestoreChecks(FarmState& state, std::vector<CheckRecord> checks) {
  for (CheckRecord& check : checks) {
    const std::string key = check.key;
    state.checks_of[check.output_path].push_back(key);
    if (check.state == CheckState::kReady) state.ready_checks.insert(key);
    state.checks[key].record = std::move(check);
  }
}

void RestoreLeases(FarmState& state, std::vector<AttemptRecord> attempts, absl::Time now) {
  for (AttemptRecord& attempt : attempts) {
    absl::Status adopted = state.leases.Adopt(std::move(attempt.lease), now);
    if (!adopted.ok()) Log(LogLevel::kWarning, "lease not adopted", {{"reason", adopted.ToString()}});
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<FarmState>> Restore(Recorded recorded, const FarmOptions& options, absl::Time now) {
  auto state = std::make_unique<FarmState>(options.lease, options.workers);
  HYDRANT_RETURN_IF_ERROR(RestoreTexts(*state, std::move(recorded.texts), options.system));
  for (MatrixRecord& matrix : recorded.matrices) state->matrices[matrix.name] = std::move(matrix);
  HYDRANT_RETURN_IF_ERROR(RestoreGraph(*state, std::move(recorded.derivations), recorded.steps));
  for (WorkerRecord& record : recorded.workers) {
    Worker worker;
    worker.name = record.name;
    worker.offer = std::move(record.offer);
    worker.drained_by_operator = record.drained_by_operator;
    worker.state = record.revoked ? WorkerState::kRevoked : WorkerState::kGone;
    worker.seen_at = record.seen_at;
    state->workers.Restore(std::move(worker));
  }
  RestoreChecks(*state, std::move(recorded.checks));
  HYDRANT_RETURN_IF_ERROR(
      RestoreEvaluations(*state, std::move(recorded.evaluations), std::move(recorded.derived_lists),
                         std::move(recorded.variants), options.system));
  RestoreLeases(*state, std::move(recorded.live_attempts), now);
  for (ChannelRecord& channel : recorded.channels) state->channels[channel.name] = std::move(channel);
  state->last_evaluation = recorded.last_evaluation;
  state->last_attempt = recorded.last_attempt;
  state->last_token = recorded.last_token;
  return state;
}

namespace {

// 0: the size of one of them is not known any more.
int64_t BytesOf(const StepSpec& step, const absl::flat_hash_map<std::string_view, int64_t>& sizes) {
  int64_t bytes = 0;
  for (const auto& [name, path] : step.outputs) {
    const auto size = sizes.find(path);
    if (size == sizes.end()) return 0;
    bytes += size->second;
  }
  return bytes;
}

}  // namespace

void RestoreHistory(FarmState& state, const std::vector<Recorded::Observed>& steps,
                    const std::vector<Recorded::ObservedCheck>& checks, const std::vector<NarInfoRecord>& narinfos) {
  absl::flat_hash_map<std::string_view, int64_t> sizes;
  for (const NarInfoRecord& info : narinfos) sizes[info.path] = info.nar_size;
  // The newest weighs most, so it comes last.
  for (auto observed = steps.rbegin(); observed != steps.rend(); ++observed) {
    const auto step = state.graph.Find(observed->derivation);
    if (!step) continue;
    const StepSpec& spec = state.graph.spec(*step);
    state.estimate.Observe(spec.name, Cost{.building = observed->building, .cpu = observed->cpu, .bytes = BytesOf(spec, sizes)});
  }
  for (auto observed = checks.rbegin(); observed != checks.rend(); ++observed) {
    const auto check = state.checks.find(observed->key);
    if (check == state.checks.end()) continue;
    const CheckRecord& record = check->second.record;
    state.estimate.ObserveCheck(record.name, NameOfPath(record.output_path), observed->running);
  }
}

}  // namespace hydrant
