#include "daemon/coordinator/evaluation_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/presence/pruned_walk.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {

namespace {

constexpr absl::Duration kPause = absl::Seconds(1);
// Sources come from a local Nix daemon: when it is away for longer than that it is a failure.
constexpr int kImportTries = 30;

void MakeUnknown(Outcome& outcome, std::string_view why) {
  outcome = {.variant = outcome.variant, .cause = Cause::kUnknown, .message = std::string(why)};
}

// One evaluation is of one branch.
absl::StatusOr<SourcePoint> PointOf(const SourceSpec& source) {
  if (source.branches.empty()) return SourcePoint{};
  if (source.branches.size() == 1) return SourcePoint{.branch = source.branches[0]};
  return absl::InvalidArgumentError(absl::StrCat("[source] branches names ", source.branches.size(),
                                                 " branches, and an evaluation is of one: give each a matrix of its own"));
}

std::vector<std::string> RootsOf(const Outcome& outcome) {
  std::vector<std::string> roots;
  for (const std::string& root : {outcome.derivation, outcome.environment}) {
    if (!root.empty()) roots.push_back(root);
  }
  return roots;
}

// Why a derivation can never be built here, of those that cannot: inputs before those that use them.
std::map<std::string, std::string> Unbuildable(const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations) {
  absl::flat_hash_map<std::string, const nix::Derivation*> by_path;
  std::map<std::string, std::string> why;
  for (const auto& loaded : derivations) {
    by_path[loaded->path] = &loaded->parsed;
    for (const auto& [name, output] : loaded->parsed.outputs) {
      if (output.path.empty()) why[loaded->path] = absl::StrCat(loaded->path, ": the output ", name, " is content-addressed");
    }
    for (const auto& [input, names] : loaded->parsed.input_derivations) {
      if (auto found = why.find(input); found != why.end()) why[loaded->path] = found->second;
      for (const std::string& name : names) {
        if (by_path.at(input)->outputs.contains(name)) continue;
        why[loaded->path] = absl::StrCat(loaded->path, ": its input ", input, " has no output ", name);
      }
    }
  }
  return why;
}

}  // namespace

void EvaluationRun::Serve(const std::atomic<bool>& stop) {
  uint64_t seen = 0;
  while (!stop) {
    auto task = options_.coordinator.TakeRequested();
    if (task.ok() && task->has_value()) {
      Run(**task, stop);
      continue;
    }
    seen = options_.coordinator.AwaitChange(seen, kPause);
  }
}

absl::Status EvaluationRun::Insist(const std::atomic<bool>& stop, int tries, const std::function<absl::Status()>& say) {
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
  if (!status.ok()) {
    Log(LogLevel::kWarning, "evaluation ended badly",
        {{"evaluation", task.id.value}, {"reason", status.ToString()}});
  }
  absl::Status finished = Insist(stop, 0, [&] { return options_.coordinator.FinishEvaluation(task.id, status); });
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

absl::Status EvaluationRun::Evaluate(const EvaluationTask& task, const std::string& root, const std::atomic<bool>& stop) {
  const SourceSpec& source = task.declared->matrix.source;
  HYDRANT_ASSIGN_OR_RETURN(const SourcePoint point, PointOf(source));
  HYDRANT_ASSIGN_OR_RETURN(Tree tree, options_.source.Snapshot(source, point, root));
  HYDRANT_RETURN_IF_ERROR(
      Insist(stop, 0, [&] { return options_.coordinator.SetRevision(task.id, tree.revision); }));
  HYDRANT_ASSIGN_OR_RETURN(std::vector<size_t> variants, options_.coordinator.UnknownVariants(task.id));
  std::atomic<bool> cancelled = false;
  absl::Status kept = absl::OkStatus();
  EvaluationInput input{.tree = tree.path, .matrix = task.declared->matrix, .expansion = task.declared->expansion,
                        .variants = std::move(variants), .root = root, .revision = tree.revision};
  absl::Status evaluated = options_.evaluator.Evaluate(
      input,
      [&](std::vector<Outcome> outcomes) {
        if (!kept.ok() || cancelled) return;
        kept = Deliver(task, std::move(outcomes), stop);
        cancelled = stop || !kept.ok() || options_.coordinator.IsCancelled(task.id);
      },
      cancelled);
  HYDRANT_RETURN_IF_ERROR(kept);
  return evaluated;
}

absl::Status EvaluationRun::Deliver(const EvaluationTask& task, std::vector<Outcome> outcomes,
                                    const std::atomic<bool>& stop) {
  OutcomeBatch batch = Complete(std::move(outcomes));
  absl::Status imported = Insist(stop, kImportTries, [&] { return ImportSources(batch); });
  if (!imported.ok()) {
    // The variants of other slices may do without what is missing here.
    for (Outcome& outcome : batch.outcomes) {
      if (!outcome.derivation.empty()) MakeUnknown(outcome, StdView(imported.message()));
    }
    batch = {.outcomes = std::move(batch.outcomes)};
  }
  return Insist(stop, 0, [&] { return options_.coordinator.AddOutcomes(task.id, batch); });
}

std::string EvaluationRun::WhyUnbuildable(const std::vector<std::string>& roots) {
  auto loaded = options_.closure.LoadAll(roots);
  if (!loaded.ok()) return std::string(loaded.status().message());
  const std::map<std::string, std::string> bad = Unbuildable(*loaded);
  for (const std::string& root : roots) {
    if (auto found = bad.find(root); found != bad.end()) return found->second;
  }
  return "";
}

OutcomeBatch EvaluationRun::Complete(std::vector<Outcome> outcomes) {
  OutcomeBatch batch;
  std::vector<std::string> roots;
  for (const Outcome& outcome : outcomes) {
    for (std::string& root : RootsOf(outcome)) roots.push_back(std::move(root));
  }
  auto all = options_.closure.LoadAll(roots);
  if (!all.ok() || !Unbuildable(*all).empty()) {
    // One of them is bad, and the others are not to suffer for it.
    roots.clear();
    for (Outcome& outcome : outcomes) {
      const std::string why = WhyUnbuildable(RootsOf(outcome));
      if (!why.empty()) MakeUnknown(outcome, why);
      for (std::string& root : RootsOf(outcome)) roots.push_back(std::move(root));
    }
    all = options_.closure.LoadAll(roots);
  }
  batch.outcomes = std::move(outcomes);
  if (!all.ok()) {
    for (Outcome& outcome : batch.outcomes) MakeUnknown(outcome, StdView(all.status().message()));
    return batch;
  }
  batch.derivations = *std::move(all);

  absl::flat_hash_map<std::string, const LoadedDerivation*> by_path;
  for (const auto& loaded : batch.derivations) by_path[loaded->path] = loaded.get();
  WalkResult walk = PrunedWalk(
      roots,
      [&](const std::string& path) {
        WalkNode node;
        const nix::Derivation& derivation = by_path.at(path)->parsed;
        for (const auto& [name, output] : derivation.outputs) node.outputs.push_back(output.path);
        for (const auto& [input, names] : derivation.input_derivations) node.inputs.push_back(input);
        return node;
      },
      [&](const std::string& path) { return options_.catalogue.FindPath(path) != nullptr; }, options_.presence);
  batch.steps = std::move(walk.needed);
  batch.held = std::move(walk.held);
  return batch;
}

absl::Status EvaluationRun::ImportSources(const OutcomeBatch& batch) {
  bool closures = false;
  for (const auto& loaded : batch.derivations) {
    closures = closures || (batch.steps.contains(loaded->path) && NeedsClosure(loaded->parsed));
  }
  std::set<std::string> sources;
  for (const auto& loaded : batch.derivations) {
    // What a cache has needs no inputs, unless the .drv itself travels.
    const bool built = batch.steps.contains(loaded->path) && !batch.held.contains(loaded->path);
    if (!built && !closures) continue;
    sources.insert(loaded->parsed.input_sources.begin(), loaded->parsed.input_sources.end());
  }
  if (sources.empty()) return absl::OkStatus();
  MutexLock lock(import_mu_);
  return Annotate(options_.import.Import(sources), "bring the sources into the cache");
}

absl::StatusOr<PlanView> EvaluationRun::Plan(const Declared& declared, const std::atomic<bool>& cancelled) {
  static std::atomic<int64_t> number = 0;
  const std::string root = absl::StrCat("plan-", ++number);
  HYDRANT_ASSIGN_OR_RETURN(const SourcePoint point, PointOf(declared.matrix.source));
  HYDRANT_ASSIGN_OR_RETURN(Tree tree, options_.source.Snapshot(declared.matrix.source, point, root));
  const EvaluationEntry entry = NewEvaluationEntry({}, std::make_shared<const Declared>(declared));
  std::vector<size_t> wanted;
  for (const VariantEntry& variant : entry.variants) {
    if (!variant.known) wanted.push_back(static_cast<size_t>(variant.record.ordinal));
  }
  std::vector<Outcome> outcomes;
  EvaluationInput input{.tree = tree.path, .matrix = declared.matrix, .expansion = declared.expansion,
                        .variants = wanted, .root = root, .revision = tree.revision};
  absl::Status evaluated = options_.evaluator.Evaluate(
      input,
      [&](std::vector<Outcome> some) {
        std::vector<std::string> roots;
        for (Outcome& outcome : some) {
          for (std::string& root : RootsOf(outcome)) roots.push_back(std::move(root));
          outcomes.push_back(std::move(outcome));
        }
        // Read while they are sure to be there; what is wrong with one is told when it is looked at.
        options_.closure.LoadAll(roots).status().IgnoreError();
      },
      cancelled);
  OutcomeBatch batch;
  if (evaluated.ok()) batch = Complete(std::move(outcomes));
  Release(root);
  HYDRANT_RETURN_IF_ERROR(evaluated);
  return MakePlan(tree.revision, entry, batch, options_.coordinator.StatesOf({batch.steps.begin(), batch.steps.end()}));
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
