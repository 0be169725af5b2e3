#include "daemon/coordinator/evaluation_run.h"

#include <algorithm>
#include <map>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "daemon/coordinator/step_walk.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/failure/classify.h"

namespace hydrant {

namespace {

constexpr absl::Duration kPause = absl::Seconds(1);
constexpr absl::Duration kCancelledWithin = absl::Milliseconds(200);
// Sources come from a local Nix daemon: when it is away for longer than that it is a failure.
constexpr int kImportTries = 30;

// Becomes true when the evaluation is cancelled or the daemon stops, also while an evaluator says nothing.
class Cancellation {
 public:
  Cancellation(const Coordinator& coordinator, EvaluationId id, const std::atomic<bool>& stop)
      : watcher_([this, &coordinator, id, &stop] {
          while (!over_.WaitForNotificationWithTimeout(kCancelledWithin)) {
            if (stop || coordinator.IsCancelled(id)) flag_ = true;
          }
        }) {}
  ~Cancellation() {
    over_.Notify();
    watcher_.join();
  }
  std::atomic<bool>& flag() { return flag_; }

 private:
  std::atomic<bool> flag_ = false;
  absl::Notification over_;
  std::thread watcher_;  // last: it uses the others
};

void Refuse(Outcome& outcome, Cause cause, std::string_view why) {
  outcome = {.variant = outcome.variant, .cause = cause, .message = std::string(why)};
}

std::vector<std::string> RootsOf(const Outcome& outcome) {
  std::vector<std::string> roots;
  for (const std::string& root : {outcome.derivation, outcome.environment}) {
    if (!root.empty()) roots.push_back(root);
  }
  return roots;
}

bool Has(const nix::Derivation& derivation, const std::map<std::string, std::string>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const auto& output) {
    const auto found = derivation.outputs.find(output.first);
    return found != derivation.outputs.end() && found->second.path == output.second;
  });
}

// `roots`: of the outcome, as RootsOf has them. kNone: all is well.
Classified ObjectionTo(const Outcome& outcome, std::span<const LinkedDerivation* const> roots) {
  for (const LinkedDerivation* root : roots) {
    if (!root->unbuildable.empty()) return {Cause::kRule, root->unbuildable};
  }
  // What an attribute set says of itself may be anything; only what its derivation makes is ever built.
  const auto forged = [](const LinkedDerivation* root) {
    return Classified{Cause::kNotADerivation,
                      absl::StrCat("its outputs are not those that its derivation ", root->loaded->path, " makes")};
  };
  if (!outcome.derivation.empty() && !Has(roots.front()->loaded->parsed, outcome.outputs)) return forged(roots.front());
  if (!outcome.environment.empty() && !Has(roots.back()->loaded->parsed, {{"out", outcome.environment_output}}))
    return forged(roots.back());
  return {Cause::kNone, ""};
}

bool AllAreGood(const std::vector<Outcome>& outcomes, std::span<const LinkedDerivation* const> roots) {
  return std::all_of(outcomes.begin(), outcomes.end(), [&roots](const Outcome& outcome) {
    const size_t count = RootsOf(outcome).size();
    const auto own = roots.first(count);
    roots = roots.subspan(count);
    return ObjectionTo(outcome, own).cause == Cause::kNone;
  });
}

}  // namespace

bool EvaluationRun::Recall() {
  MutexLock lock(recall_mu_);
  if (recalled_) return true;
  if (!options_.coordinator.Ready().ok()) return false;
  std::vector<std::shared_ptr<const LoadedDerivation>> derivations;
  for (const LinkedDerivation* known : options_.closure.Know(options_.coordinator.RecordedDerivations())) {
    derivations.push_back(known->loaded);
  }
  options_.coordinator.LookAt(derivations);
  return recalled_ = true;
}

std::optional<EvaluationTask> EvaluationRun::Next(const std::atomic<bool>& stop) {
  MutexLock lock(next_mu_);
  uint64_t seen = 0;
  while (!stop) {
    Recall();
    auto task = options_.coordinator.TakeRequested();
    if (task.ok() && task->has_value()) return *std::move(task);
    seen = options_.coordinator.AwaitChange(seen, kPause);
  }
  return std::nullopt;
}

void EvaluationRun::Serve(const std::atomic<bool>& stop) {
  while (const std::optional<EvaluationTask> task = Next(stop)) Run(*task, stop);
}

absl::Status EvaluationRun::Insist(const std::atomic<bool>& stop, int tries,
                                   const std::function<absl::Status()>& say) {
  uint64_t seen = 0;
  for (int tried = 1;; ++tried) {
    absl::Status status = say();
    if (status.code() != absl::StatusCode::kUnavailable || stop || tried == tries) return status;
    seen = options_.coordinator.AwaitChange(seen, kPause);
  }
}

void EvaluationRun::Run(const EvaluationTask& task, const std::atomic<bool>& stop) {
  const std::string root = absl::StrCat("evaluation-", task.id.value);
  absl::Status status = Evaluate(task, root, stop);
  if (stop) return;  // the next daemon begins it again
  if (absl::IsCancelled(status)) {
    Log(LogLevel::kInfo, "evaluation cancelled", {{"evaluation", task.id.value}});
  } else if (!status.ok()) {
    Log(LogLevel::kWarning, "evaluation ended badly",
        {{"evaluation", task.id.value}, {"reason", status.ToString()}});
  }
  absl::Status finished =
      Insist(stop, 0, [&] { return options_.coordinator.FinishEvaluation(task.id, status); });
  if (!finished.ok()) {
    Log(LogLevel::kError, "evaluation not finished",
        {{"evaluation", task.id.value}, {"reason", finished.ToString()}});
  }
  // Derivations are in the record by now, and their sources in the cache.
  if (!stop) Release(root);
}

void EvaluationRun::Release(const std::string& root) {
  options_.evaluator.Release(root);
  options_.source.Release(root);
}

absl::Status EvaluationRun::DerivePackages(const EvaluationTask& task, const EvaluationInput& input,
                                           const std::atomic<bool>& stop,
                                           const std::atomic<bool>& cancelled) {
  HYDRANT_ASSIGN_OR_RETURN(const bool lacks, options_.coordinator.LacksPackages(task.id));
  if (!lacks) return absl::OkStatus();
  HYDRANT_ASSIGN_OR_RETURN(const DerivedList list, options_.evaluator.DerivePackages(input, cancelled));
  return Insist(stop, 0, [&] { return options_.coordinator.SetPackages(task.id, list); });
}

absl::Status EvaluationRun::Evaluate(const EvaluationTask& task, const std::string& root,
                                     const std::atomic<bool>& stop) {
  const Matrix& matrix = task.declared->matrix;
  Cancellation cancellation(options_.coordinator, task.id, stop);
  std::atomic<bool>& cancelled = cancellation.flag();
  HYDRANT_ASSIGN_OR_RETURN(Tree tree, options_.source.Snapshot(matrix.source, task.point, root, cancelled));
  HYDRANT_RETURN_IF_ERROR(
      Insist(stop, 0, [&] { return options_.coordinator.SetRevision(task.id, tree.revision); }));
  const EvaluationTurn::Held turn(turn_, {task.priority, task.id}, cancelled);
  if (!turn.came()) return absl::CancelledError("evaluation cancelled");
  const EvaluationInput whole{.tree = tree.path,
                              .matrix = matrix,
                              .expansion = task.declared->expansion,
                              .variants = {},
                              .root = root,
                              .revision = tree.revision};
  HYDRANT_RETURN_IF_ERROR(DerivePackages(task, whole, stop, cancelled));
  HYDRANT_ASSIGN_OR_RETURN(const std::shared_ptr<const Expansion> expansion,
                           options_.coordinator.ExpansionOf(task.id));
  HYDRANT_ASSIGN_OR_RETURN(std::vector<size_t> variants, options_.coordinator.UnknownVariants(task.id));
  absl::Status kept = absl::OkStatus();
  Brought brought;
  const EvaluationInput input{.tree = tree.path,
                              .matrix = matrix,
                              .expansion = *expansion,
                              .variants = std::move(variants),
                              .root = root,
                              .revision = tree.revision};
  absl::Status evaluated = options_.evaluator.Evaluate(
      input,
      [&](std::vector<Outcome> outcomes) {
        if (!kept.ok() || cancelled) return;
        kept = Deliver(task, std::move(outcomes), brought, stop);
        if (stop || !kept.ok() || options_.coordinator.IsCancelled(task.id)) cancelled = true;
      },
      cancelled);
  HYDRANT_RETURN_IF_ERROR(kept);
  return evaluated;
}

absl::Status EvaluationRun::Deliver(const EvaluationTask& task, std::vector<Outcome> outcomes,
                                    Brought& brought, const std::atomic<bool>& stop) {
  auto [batch, sources] = Complete(std::move(outcomes), brought);
  absl::Status imported =
      Insist(stop, kImportTries, [&, &sources = sources] { return ImportSources(sources); });
  if (!imported.ok()) {
    // The variants of other slices may do without what is missing here.
    for (Outcome& outcome : batch.outcomes) {
      if (!outcome.derivation.empty()) Refuse(outcome, Cause::kUnknown, StdView(imported.message()));
    }
    batch = {.outcomes = std::move(batch.outcomes)};
    brought = {};  // what these need did not get its steps
  }
  return Insist(stop, 0, [&, &batch = batch] { return options_.coordinator.AddOutcomes(task.id, batch); });
}

// A derivation that cannot be read says nothing of its package, one that nobody here could build is a
// refusal.
void EvaluationRun::RefuseUnbuildable(Outcome& outcome) {
  auto linked = options_.closure.Link(RootsOf(outcome));
  if (!linked.ok()) return Refuse(outcome, Cause::kUnknown, StdView(linked.status().message()));
  const Classified objection = ObjectionTo(outcome, linked->roots);
  if (objection.cause != Cause::kNone) Refuse(outcome, objection.cause, objection.message);
}

absl::StatusOr<LinkedClosure> EvaluationRun::LinkBuildable(std::vector<Outcome>& outcomes,
                                                           const Brought& brought) {
  std::vector<std::string> roots;
  for (const Outcome& outcome : outcomes) {
    for (std::string& root : RootsOf(outcome)) roots.push_back(std::move(root));
  }
  auto closure = options_.closure.Link(roots, brought.derivations);
  if (closure.ok() && AllAreGood(outcomes, closure->roots)) return closure;
  // One of them is bad, and the others are not to suffer for it.
  roots.clear();
  for (Outcome& outcome : outcomes) {
    RefuseUnbuildable(outcome);
    for (std::string& root : RootsOf(outcome)) roots.push_back(std::move(root));
  }
  return options_.closure.Link(roots, brought.derivations);
}

EvaluationRun::Completed EvaluationRun::Complete(std::vector<Outcome> outcomes, Brought& brought) {
  auto closure = LinkBuildable(outcomes, brought);
  Completed result{.batch = {.outcomes = std::move(outcomes)}};
  OutcomeBatch& batch = result.batch;
  if (!closure.ok()) {
    for (Outcome& outcome : batch.outcomes)
      Refuse(outcome, Cause::kUnknown, StdView(closure.status().message()));
    return result;
  }
  const std::vector<const LinkedDerivation*> steps =
      StepWalk(options_.catalogue, options_.presence, brought.walked).Walk(closure->roots, batch);
  const std::vector<const LinkedDerivation*> all = WithWhatStepsNeed(std::move(closure->all), steps);
  batch.derivations.reserve(all.size());
  for (const LinkedDerivation* derivation : all) {
    Mark(brought.derivations, derivation);
    batch.derivations.push_back(derivation->loaded);
  }
  result.sources = SourcesOf(steps, all, batch);
  return result;
}

absl::Status EvaluationRun::ImportSources(const std::set<std::string>& sources) {
  if (sources.empty()) return absl::OkStatus();
  MutexLock lock(import_mu_);
  return Annotate(options_.import.Import(sources), "bring the sources into the cache");
}

absl::StatusOr<std::shared_ptr<const Derived>> EvaluationRun::DerivedAt(const Declared& declared,
                                                                        const Tree& tree,
                                                                        const std::string& root,
                                                                        const std::atomic<bool>& cancelled) {
  if (auto known = options_.coordinator.DerivedOf(declared.text.digest, tree.revision)) return known;
  const EvaluationInput whole{.tree = tree.path,
                              .matrix = declared.matrix,
                              .expansion = declared.expansion,
                              .variants = {},
                              .root = root,
                              .revision = tree.revision};
  HYDRANT_ASSIGN_OR_RETURN(DerivedList list, options_.evaluator.DerivePackages(whole, cancelled));
  return options_.coordinator.Expand(declared, std::move(list));
}

void EvaluationRun::SizeDownloads(const OutcomeBatch& batch, PlanBasis& basis) {
  std::vector<std::string> unknown;
  for (const std::string& path : DownloadsOf(batch, basis)) {
    if (!basis.file_sizes.contains(path)) unknown.push_back(path);
  }
  for (const auto& [path, answer] : options_.presence.Ask(unknown)) {
    if (answer.file_size > 0) basis.file_sizes[path] = static_cast<int64_t>(answer.file_size);
  }
}

absl::StatusOr<PlanView> EvaluationRun::PlanAt(const Declared& declared, const Declared* extended,
                                               const Tree& tree, const std::string& root,
                                               const std::atomic<bool>& cancelled) {
  const Declared& all = extended == nullptr ? declared : *extended;
  std::shared_ptr<const Derived> derived, derived_of_all;
  if (declared.matrix.derived) {
    HYDRANT_ASSIGN_OR_RETURN(derived, DerivedAt(declared, tree, root, cancelled));
    derived_of_all = derived;
    if (extended != nullptr) {
      const DerivedList same{.packages = derived->packages, .notes = derived->notes};
      HYDRANT_ASSIGN_OR_RETURN(derived_of_all, options_.coordinator.Expand(all, same));
    }
  }
  const EvaluationEntry entry = NewEvaluationEntry({}, std::make_shared<const Declared>(all), derived_of_all);
  std::vector<size_t> wanted;
  for (const VariantEntry& variant : entry.variants) {
    if (!variant.known) wanted.push_back(static_cast<size_t>(variant.record.ordinal));
  }
  std::vector<Outcome> outcomes;
  EvaluationInput input{.tree = tree.path,
                        .matrix = all.matrix,
                        .expansion = entry.expansion(),
                        .variants = wanted,
                        .root = root,
                        .revision = tree.revision};
  HYDRANT_RETURN_IF_ERROR(options_.evaluator.Evaluate(
      input,
      [&](std::vector<Outcome> some) {
        std::vector<std::string> roots;
        for (Outcome& outcome : some) {
          for (std::string& each : RootsOf(outcome)) roots.push_back(std::move(each));
          outcomes.push_back(std::move(outcome));
        }
        // Read while they are sure to be there; what is wrong with one is told when it is looked at.
        options_.closure.LoadAll(roots).status().IgnoreError();
      },
      cancelled));
  Brought brought;
  const OutcomeBatch batch = Complete(std::move(outcomes), brought).batch;
  PlanBasis basis = options_.coordinator.BasisOf(batch);
  SizeDownloads(batch, basis);
  if (extended == nullptr) return MakePlan(tree.revision, entry, batch, basis);
  const EvaluationEntry part = NewEvaluationEntry({}, std::make_shared<const Declared>(declared), derived);
  return MakeAdditionPlan(tree.revision, part, entry, batch, basis);
}

absl::StatusOr<PlanView> EvaluationRun::Plan(const Declared& declared, const SourcePoint& asked,
                                             const std::atomic<bool>& cancelled, const Declared* extended) {
  static std::atomic<int64_t> number = 0;
  const std::string root = absl::StrCat("plan-", ++number);
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<std::string> branches, BranchesOf(declared.matrix, asked));
  const SourcePoint point{.branch = branches.front(), .revision = asked.revision};
  HYDRANT_ASSIGN_OR_RETURN(Tree tree, options_.source.Snapshot(declared.matrix.source, point, root, cancelled));
  absl::StatusOr<PlanView> plan = PlanAt(declared, extended, tree, root, cancelled);
  Release(root);
  return plan;
}

std::map<std::string, Answer> UpstreamMemory::Ask(const std::vector<std::string>& store_paths) {
  std::map<std::string, Answer> answers = presence_.Ask(store_paths);
  MutexLock lock(mu_);
  for (const auto& [path, answer] : answers) {
    if (answer.held == Held::kPresent) held_.insert(path);
  }
  return answers;
}

void UpstreamMemory::Follow(const std::vector<std::string>& store_paths, const Onward& onward) {
  presence_.Follow(store_paths, [&](const std::string& path, const Answer& answer) {
    if (answer.held == Held::kPresent) {
      MutexLock lock(mu_);
      held_.insert(path);
    }
    return onward(path, answer);
  });
}

bool UpstreamMemory::Holds(const std::string& store_path) const {
  MutexLock lock(mu_);
  return held_.contains(store_path);
}

}  // namespace hydrant
