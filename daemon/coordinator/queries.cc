// What users and metrics ask: answers from memory, never from the database but for attempts of the past.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/coordinator/backlog.h"
#include "daemon/coordinator/coordinator.h"
#include "daemon/coordinator/known_facts.h"
#include "daemon/coordinator/waiting.h"
#include "daemon/schedule/scheduler.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/channel_names.h"

namespace hydrant {

GridVariant Coordinator::ViewOf(const EvaluationEntry& evaluation, const VariantEntry& variant) const {
  return {.record = variant.record,
          .view = Describe(*state_, evaluation, variant, Waiting()),
          .required = variant.required,
          .facts = variant.facts,
          .hydra = HydraOf(variant.record, variant.facts.get())};
}

RunningView Coordinator::ViewOf(const Lease& lease) const {
  RunningView view{.lease = lease};
  if (auto step = state_->graph.Find(lease.subject.derivation)) view.what = state_->graph.spec(*step).name;
  auto check = state_->checks.find(lease.subject.check);
  if (check != state_->checks.end()) {
    const CheckEntry& entry = check->second;
    view.what = absl::StrCat(
        "check ", entry.record.name,
        entry.output_step ? absl::StrCat(" of ", state_->graph.spec(*entry.output_step).name) : "");
  }
  return view;
}

std::map<std::string, int64_t> Coordinator::TotalsOf(const EvaluationEntry& evaluation) const {
  std::map<std::string, int64_t> totals;
  for (const VariantEntry& variant : evaluation.variants) {
    ++totals[std::string(VariantStateName(Describe(*state_, evaluation, variant, Waiting()).state))];
  }
  return totals;
}

std::vector<BranchView> Coordinator::BranchesIn(const std::string& name, const Matrix& matrix) const {
  std::vector<BranchView> views;
  const auto channels = ChannelsOf(matrix);
  if (channels.size() < 2) return views;
  for (const auto& [channel, branch] : channels) {
    BranchView& view = views.emplace_back(BranchView{.branch = branch});
    if (const EvaluationEntry* newest = NewestEvaluation(*state_, name, branch)) {
      view.evaluation = newest->record;
      view.totals = TotalsOf(*newest);
    }
  }
  return views;
}

std::vector<MatrixView> Coordinator::Matrices() const {
  MutexLock lock(mu_);
  std::vector<MatrixView> views;
  for (const auto& [name, record] : state_->matrices) {
    const Declared& declared = *state_->declared.at(record.digest);
    MatrixView view{.name = name,
                    .reason = declared.matrix.reason,
                    .variants = static_cast<int64_t>(declared.expansion.variants.size())};
    if (const EvaluationEntry* newest = NewestEvaluation(*state_, name)) {
      view.evaluation = newest->record;
      if (declared.matrix.derived) view.variants = static_cast<int64_t>(newest->expansion().variants.size());
      view.totals = TotalsOf(*newest);
    }
    view.branches = BranchesIn(name, declared.matrix);
    views.push_back(std::move(view));
  }
  return views;
}

namespace {

bool HasUserOf(const std::vector<VariantRef>& users, EvaluationId id) {
  return std::any_of(users.begin(), users.end(), [&](const VariantRef& ref) { return ref.evaluation == id; });
}

// Whether a step or check is for a variant of the evaluation, or for what such a one needs.
bool Serves(const FarmState& state, const AttemptSubject& subject, EvaluationId id) {
  if (!subject.check.empty()) return HasUserOf(state.checks.at(subject.check).users, id);
  auto root = state.graph.Find(subject.derivation);
  if (!root) return false;
  std::set<StepId> seen = {*root};
  std::vector<StepId> todo = {*root};
  while (!todo.empty()) {
    const StepId step = todo.back();
    todo.pop_back();
    auto users = state.users.find(step);
    if (users != state.users.end() && HasUserOf(users->second, id)) return true;
    for (StepId dependent : state.graph.dependents(step)) {
      if (seen.insert(dependent).second) todo.push_back(dependent);
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<GridView> Coordinator::Grid(const std::string& matrix, EvaluationId id,
                                           const std::string& branch) const {
  MutexLock lock(mu_);
  HYDRANT_ASSIGN_OR_RETURN(EvaluationEntry * evaluation, FindEvaluation(matrix, id, branch));
  GridView grid{.evaluation = evaluation->record};
  if (evaluation->derived != nullptr) grid.notes = evaluation->derived->notes;
  for (const VariantEntry& variant : evaluation->variants) {
    grid.variants.push_back(ViewOf(*evaluation, variant));
    ++grid.totals[std::string(VariantStateName(grid.variants.back().view.state))];
  }
  for (const auto& [attempt, lease] : state_->leases.all()) {
    if (Serves(*state_, lease.subject, evaluation->record.id)) grid.running.push_back(ViewOf(lease));
  }
  return grid;
}

absl::StatusOr<std::vector<EvaluationRecord>> Coordinator::Evaluations(const std::string& matrix,
                                                                       const std::string& branch) const {
  MutexLock lock(mu_);
  if (!matrix.empty() && !state_->matrices.contains(matrix)) return NoMatrix(matrix);
  std::vector<EvaluationRecord> records;
  for (auto it = state_->evaluations.rbegin(); it != state_->evaluations.rend() && records.size() < 200;
       ++it) {
    const EvaluationRecord& record = it->second.record;
    if (!matrix.empty() && record.matrix != matrix) continue;
    if (branch.empty() || record.branch == branch) records.push_back(record);
  }
  return records;
}

namespace {

// The step that an explanation is about: the variant's, or the environment's that its checks wait for.
std::optional<StepId> StepToExplain(const FarmState& state, const VariantEntry& variant) {
  const auto unfinished = [&](const std::optional<StepId>& step) {
    return step && state.graph.state(*step) != StepState::kSucceeded;
  };
  if (!unfinished(variant.step) && unfinished(variant.environment_step)) return variant.environment_step;
  return variant.step;
}

// The other variants of the evaluation that the variant's step serves.
void NoteShared(const FarmState& state, const EvaluationEntry& evaluation, const VariantEntry& variant,
                ExplainView& view) {
  const auto users = variant.step ? state.users.find(*variant.step) : state.users.end();
  if (users == state.users.end()) return;
  for (const VariantRef& ref : users->second) {
    if (ref.evaluation != evaluation.record.id) continue;
    const VariantEntry& other = evaluation.variants[ref.place];
    if (&other == &variant || other.step != variant.step) continue;
    if (++view.shared_with_count <= 20) view.shared_with.push_back(other.record.id);
  }
}

std::string ReasonOf(const FarmState& state, StepId step) {
  const StepDetail& detail = state.graph.detail(step);
  switch (state.graph.state(step)) {
    case StepState::kBlocked:
      return "it waits for inputs that are not built yet";
    case StepState::kReady: {
      const std::optional<Nobody> nobody = WhyNobody(state, DemandOf(state, step));
      return nobody ? nobody->why : "it is ready; every worker that can take it is busy";
    }
    case StepState::kRunning:
      return "an attempt is running";
    case StepState::kBuilt:
      return "it is built and about to be staged";
    case StepState::kSucceeded:
      if (detail.held_by.empty() || detail.held_by == "ours")
        return "it succeeded; our cache holds its outputs";
      return absl::StrCat("its outputs are in ", detail.held_by);
    case StepState::kBackingOff:
      return absl::StrCat("the farm failed it (", std::string(CauseName(detail.cause)), ": ", detail.message,
                          "); it is tried again");
    case StepState::kFailed:
      return absl::StrCat("it failed (", std::string(CauseName(detail.cause)), "): ", detail.message);
    case StepState::kCancelled:
      return "it was cancelled";
    case StepState::kDependencyFailed:
      return absl::StrCat("a dependency failed: ", detail.root, ": ", detail.message);
  }
  return "";
}

}  // namespace

absl::StatusOr<ExplainView> Coordinator::Explain(const std::string& address, EvaluationId id,
                                                 const std::string& branch) const {
  ExplainView view;
  AttemptSubject subject;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(Found found, Find({.address = address, .evaluation = id, .branch = branch}));
    std::optional<StepId> step = found.step;
    std::optional<Demand> demand;
    if (!found.variants.empty()) {
      const VariantEntry& variant = *found.variants.front();
      view.variant = ViewOf(*found.evaluation, variant);
      view.reason = view.variant->view.message;
      NoteShared(*state_, *found.evaluation, variant, view);
      step = StepToExplain(*state_, variant);
      for (const std::string& key : variant.checks) {
        const CheckEntry& check = state_->checks.at(key);
        if (check.record.state == CheckState::kReady) demand = DemandOf(check);
      }
    }
    if (step) {
      view.derivation = state_->graph.spec(*step).derivation;
      view.step_state = StepStateName(state_->graph.state(*step));
      if (view.reason.empty() || !view.variant) view.reason = ReasonOf(*state_, *step);
      view.chain = state_->graph.ChainToRoot(*step);
      if (state_->graph.state(*step) == StepState::kReady) demand = DemandOf(*state_, *step);
      for (StepId input : state_->graph.inputs(*step)) {
        if (state_->graph.state(input) != StepState::kSucceeded && view.waits_for.size() < 20) {
          view.waits_for.push_back(state_->graph.spec(input).derivation);
        }
      }
      subject.derivation = view.chain.empty() ? view.derivation : view.chain.back();
    }
    if (demand) {
      for (const auto& [name, worker] : state_->workers.all()) {
        if (worker.state == WorkerState::kGone || worker.state == WorkerState::kRevoked) continue;
        std::string rule = WhyNot(*demand, worker.offer);
        if (rule.empty() && worker.state != WorkerState::kConnected) {
          rule = absl::StrCat("is ", std::string(WorkerStateName(worker.state)));
        }
        view.workers.emplace_back(name, std::move(rule));
      }
    }
  }
  if (!subject.derivation.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(view.attempts, options_.store.Attempts(subject, 20));
  }
  return view;
}

absl::StatusOr<AttemptRecord> Coordinator::AttemptOf(const std::string& address, EvaluationId id,
                                                     const std::string& branch) const {
  int64_t number = 0;
  if (absl::StartsWith(address, "a") && absl::SimpleAtoi(address.substr(1), &number)) {
    return options_.store.FindAttempt({number});
  }
  std::vector<AttemptSubject> subjects;
  std::string why;
  {
    MutexLock lock(mu_);
    HYDRANT_ASSIGN_OR_RETURN(Found found, Find({.address = address, .evaluation = id, .branch = branch}));
    std::optional<StepId> step = found.step;
    if (!found.variants.empty()) {
      const VariantEntry& variant = *found.variants.front();
      why = Describe(*state_, *found.evaluation, variant, Waiting()).message;
      step = variant.step;
      // A failed check is what one asks about; else the step, else a check.
      for (const std::string& key : variant.checks) {
        const bool failed = state_->checks.at(key).record.state == CheckState::kFailed;
        subjects.insert(failed ? subjects.begin() : subjects.end(), {.check = key});
      }
      if (step && !(subjects.size() > 0 &&
                    state_->checks.at(subjects[0].check).record.state == CheckState::kFailed)) {
        subjects.insert(subjects.begin(), AttemptSubject{});
        subjects[0].derivation = state_->graph.spec(*step).derivation;
      }
    } else if (step) {
      subjects.push_back({.derivation = state_->graph.spec(*step).derivation});
    }
    if (step) {
      const std::vector<std::string> chain = state_->graph.ChainToRoot(*step);
      if (chain.size() > 1) subjects.insert(subjects.begin(), {.derivation = chain.back()});
    }
  }
  for (const AttemptSubject& subject : subjects) {
    HYDRANT_ASSIGN_OR_RETURN(std::vector<AttemptRecord> attempts, options_.store.Attempts(subject, 1));
    if (!attempts.empty()) return attempts.front();
  }
  return absl::NotFoundError(absl::StrCat("nothing of ", address, " has been attempted here",
                                          why.empty() ? "" : absl::StrCat(": ", why)));
}

absl::StatusOr<AttemptId> Coordinator::LogOf(const std::string& derivation) const {
  const AttemptSubject subject{.derivation = derivation};
  HYDRANT_ASSIGN_OR_RETURN(std::vector<AttemptRecord> attempts, options_.store.Attempts(subject, 20));
  for (const AttemptRecord& attempt : attempts) {
    if (attempt.result.outcome == "succeeded") return attempt.lease.attempt;
  }
  if (!attempts.empty()) return attempts.front().lease.attempt;
  return absl::NotFoundError(absl::StrCat("no log of ", derivation));
}

bool Coordinator::IsLive(AttemptId attempt) const {
  MutexLock lock(mu_);
  return state_->leases.Find(attempt) != nullptr;
}

std::vector<WorkerView> Coordinator::Workers() const {
  MutexLock lock(mu_);
  std::vector<WorkerView> views;
  for (const auto& [name, worker] : state_->workers.all()) {
    WorkerView view{.worker = worker, .busy_slots = state_->leases.BusySlots(name)};
    for (const Lease* lease : state_->leases.OfWorker(name)) view.running.push_back(ViewOf(*lease));
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<ChannelRecord> Coordinator::Channels() const {
  MutexLock lock(mu_);
  std::vector<ChannelRecord> channels;
  for (const auto& [name, channel] : state_->channels) channels.push_back(channel);
  return channels;
}

std::map<std::string, StepState> Coordinator::StatesOf(const std::vector<std::string>& derivations) const {
  MutexLock lock(mu_);
  std::map<std::string, StepState> states;
  for (const std::string& derivation : derivations) {
    if (auto step = state_->graph.Find(derivation)) states[derivation] = state_->graph.state(*step);
  }
  return states;
}

PlanBasis Coordinator::BasisOf(const OutcomeBatch& batch) const {
  PlanBasis basis;
  for (const auto& loaded : batch.derivations) {
    if (!batch.held.contains(loaded->path)) continue;
    for (const auto& [name, output] : loaded->parsed.outputs) {
      if (const auto info = options_.catalogue.FindPath(output.path))
        basis.file_sizes[output.path] = info->file_size;
    }
  }
  MutexLock lock(mu_);
  for (const std::string& derivation : batch.steps) {
    const auto step = state_->graph.Find(derivation);
    if (!step) continue;
    const StepState at = state_->graph.state(*step);
    basis.states[derivation] = at;
    if (at != StepState::kFailed && at != StepState::kDependencyFailed) continue;
    StepDetail& detail = basis.failures[derivation] = state_->graph.detail(*step);
    if (at == StepState::kDependencyFailed) detail.cause = Cause::kDependencyFailed;
  }
  for (const Outcome& outcome : batch.outcomes) {
    for (const auto& [name, output] : outcome.outputs) {
      auto keys = state_->checks_of.find(output);
      if (keys == state_->checks_of.end()) continue;
      for (const std::string& key : keys->second) {
        const CheckState at = state_->checks.at(key).record.state;
        if (at == CheckState::kPassed || at == CheckState::kFailed) basis.decided_checks.insert(key);
      }
    }
  }
  basis.gpu_architectures = GpuArchitectures(*state_);
  basis.history = state_->estimate;
  for (const auto& [name, worker] : state_->workers.all()) {
    if (worker.state == WorkerState::kConnected) basis.workers.push_back(worker.offer);
  }
  basis.backlog = BacklogOf(*state_, options_.clock.Now());
  return basis;
}

std::vector<std::shared_ptr<const DerivationEntry>> Coordinator::RecordedDerivations(
    const std::vector<std::string>& derivations) const {
  MutexLock lock(mu_);
  std::vector<std::shared_ptr<const DerivationEntry>> entries;
  entries.reserve(derivations.size());
  for (const std::string& path : derivations) {
    const auto found = state_->derivations.find(path);
    entries.push_back(found == state_->derivations.end() ? nullptr : found->second);
  }
  return entries;
}

std::vector<std::shared_ptr<const DerivationEntry>> Coordinator::RecordedDerivations() const {
  MutexLock lock(mu_);
  std::vector<std::shared_ptr<const DerivationEntry>> entries;
  entries.reserve(state_->derivations.size());
  for (const auto& [path, entry] : state_->derivations) entries.push_back(entry);
  return entries;
}

std::shared_ptr<const Declared> Coordinator::DeclaredOf(const std::string& matrix) const {
  MutexLock lock(mu_);
  auto found = state_->matrices.find(matrix);
  return found == state_->matrices.end() ? nullptr : state_->declared.at(found->second.digest);
}

namespace {

// Since when a channel is behind: a newer evaluation of its whole branch was asked for. InfiniteFuture: it is
// not.
absl::Time BehindSince(const FarmState& state, const ChannelRecord& channel, const std::string& branch) {
  for (auto it = state.evaluations.upper_bound(channel.evaluation); it != state.evaluations.end(); ++it) {
    const EvaluationRecord& record = it->second.record;
    const bool is_its = record.matrix == channel.matrix && (branch.empty() || record.branch == branch);
    const bool moves = record.only.empty() && record.wanted_revision.empty();
    if (is_its && moves && record.state != EvaluationState::kCancelled) return record.requested_at;
  }
  return absl::InfiniteFuture();
}

void CountMatrix(const FarmState& state, const std::string& name, const WaitingRule& rule,
                 FarmTotals& totals) {
  auto& states = totals.variants[name];
  for (int at = 0; at < kVariantStateCount; ++at)
    states[std::string(VariantStateName(static_cast<VariantState>(at)))] = 0;
  for (const auto& [id, evaluation] : state.evaluations) {
    const EvaluationRecord& record = evaluation.record;
    const bool ended =
        record.state == EvaluationState::kSettled || record.state == EvaluationState::kIncomplete;
    if (record.matrix == name && ended) totals.evaluated_at[name] = record.settled_at;
  }
  const Matrix& matrix = state.declared.at(state.matrices.at(name).digest)->matrix;
  for (const auto& [channel_name, branch] : ChannelsOf(matrix)) {
    const EvaluationEntry* newest = NewestEvaluation(state, name, branch);
    if (newest == nullptr) continue;
    for (const VariantEntry& variant : newest->variants) {
      ++states[std::string(VariantStateName(Describe(state, *newest, variant, rule).state))];
      for (const Finding& finding : variant.record.findings) ++totals.findings[name][finding.rule];
    }
    auto channel = state.channels.find(channel_name);
    if (channel == state.channels.end()) continue;
    totals.channel_lag_since[channel_name] = BehindSince(state, channel->second, branch);
  }
}

void CountWorkers(const FarmState& state, FarmTotals& totals) {
  for (const char* at : {"connected", "draining", "gone", "quarantined", "revoked"}) totals.workers[at] = 0;
  std::map<std::tuple<std::string, std::string, bool>, int64_t> gpus;
  for (const auto& [name, worker] : state.workers.all()) {
    ++totals.workers[std::string(WorkerStateName(worker.state))];
    if (worker.state == WorkerState::kGone || worker.state == WorkerState::kRevoked) continue;
    const int busy = state.leases.BusySlots(name);
    totals.slots[name] = {busy, std::max(0, worker.offer.slots - busy)};
    const std::set<std::string> taken = state.leases.BusyGpus(name);
    for (const OfferedGpu& gpu : worker.offer.gpus) {
      ++gpus[{gpu.architecture, taken.contains(gpu.uuid) ? "busy" : "free", gpu.simulated}];
    }
  }
  for (const auto& [key, count] : gpus) {
    totals.gpus.push_back({.architecture = std::get<0>(key),
                           .state = std::get<1>(key),
                           .simulated = std::get<2>(key),
                           .count = count});
  }
}

}  // namespace

FarmTotals Coordinator::Totals() const {
  MutexLock lock(mu_);
  const FarmState& state = *state_;
  FarmTotals totals;
  totals.steps = state.graph.counts();
  for (const auto& [name, record] : state.matrices) CountMatrix(state, name, Waiting(), totals);
  for (StepId step : state.graph.ready()) {
    if (const Nobody* nobody = WaitingFor(state, step, Waiting())) ++totals.waiting[nobody->kind];
  }
  for (const std::string& key : state.ready_checks) {
    if (const Nobody* nobody = WaitingFor(state, state.checks.at(key), Waiting()))
      ++totals.waiting[nobody->kind];
  }
  CountWorkers(state, totals);
  return totals;
}

}  // namespace hydrant
