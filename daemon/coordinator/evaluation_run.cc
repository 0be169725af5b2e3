#include "daemon/coordinator/evaluation_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/presence/pruned_walk.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {

void EvaluationRun::Serve(const std::atomic<bool>& stop) {
  uint64_t seen = 0;
  while (!stop) {
    auto task = options_.coordinator.TakeRequested();
    if (task.ok() && task->has_value()) {
      Run(**task, stop);
      continue;
    }
    seen = options_.coordinator.AwaitChange(seen, absl::Seconds(1));
  }
}

void EvaluationRun::Run(const EvaluationTask& task, const std::atomic<bool>& stop) {
  absl::Status status = Evaluate(task, stop);
  if (stop) return;  // the next daemon begins it again
  if (!status.ok()) {
    Log(LogLevel::kWarning, "evaluation ended badly",
        {{"evaluation", task.id.value}, {"reason", status.ToString()}});
  }
  // The record may be away: the outcome is not lost, it is said until it is heard.
  uint64_t seen = 0;
  while (!stop) {
    absl::Status finished = options_.coordinator.FinishEvaluation(task.id, status);
    if (finished.code() != absl::StatusCode::kUnavailable) return;
    seen = options_.coordinator.AwaitChange(seen, absl::Seconds(1));
  }
}

absl::Status EvaluationRun::Evaluate(const EvaluationTask& task, const std::atomic<bool>& stop) {
  const std::string root = absl::StrCat("evaluation-", task.id.value);
  HYDRANT_ASSIGN_OR_RETURN(Tree tree, options_.source.Snapshot(task.declared->matrix.source, root));
  HYDRANT_RETURN_IF_ERROR(options_.coordinator.SetRevision(task.id, tree.revision));
  std::atomic<bool> cancelled = false;
  absl::Status kept = absl::OkStatus();
  EvaluationInput input{.tree = tree.path, .matrix = task.declared->matrix, .expansion = task.declared->expansion,
                        .variants = task.variants, .root = root};
  absl::Status evaluated = options_.evaluator.Evaluate(
      input,
      [&](std::vector<Outcome> outcomes) {
        if (!kept.ok() || cancelled) return;
        OutcomeBatch batch = Complete(std::move(outcomes));
        kept = ImportSources(batch);
        if (kept.ok()) kept = options_.coordinator.AddOutcomes(task.id, batch);
        cancelled = stop || !kept.ok() || options_.coordinator.IsCancelled(task.id);
      },
      cancelled);
  HYDRANT_RETURN_IF_ERROR(kept);
  return evaluated;
}

OutcomeBatch EvaluationRun::Complete(std::vector<Outcome> outcomes) {
  OutcomeBatch batch;
  std::vector<std::string> roots;
  for (Outcome& outcome : outcomes) {
    for (std::string* derivation : {&outcome.derivation, &outcome.environment}) {
      if (derivation->empty()) continue;
      auto loaded = options_.closure.LoadAll({*derivation});
      if (loaded.ok()) {
        roots.push_back(*derivation);
        continue;
      }
      if (derivation == &outcome.derivation) {
        outcome = {.variant = outcome.variant, .cause = Cause::kUnknown, .message = std::string(loaded.status().message())};
        break;
      }
      outcome.environment.clear();
      outcome.environment_output.clear();
    }
  }
  batch.outcomes = std::move(outcomes);
  auto all = options_.closure.LoadAll(roots);
  if (all.ok()) batch.derivations = *std::move(all);

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
  PlanView plan;
  static std::atomic<int64_t> number = 0;
  const std::string root = absl::StrCat("plan-", ++number);
  HYDRANT_ASSIGN_OR_RETURN(Tree tree, options_.source.Snapshot(declared.matrix.source, root));
  plan.revision = tree.revision;
  EvaluationEntry entry = NewEvaluationEntry({}, std::make_shared<const Declared>(declared));
  std::vector<size_t> wanted;
  for (const VariantEntry& variant : entry.variants) {
    if (!variant.known) wanted.push_back(static_cast<size_t>(variant.record.ordinal));
  }
  std::vector<Outcome> outcomes;
  EvaluationInput input{.tree = tree.path, .matrix = declared.matrix, .expansion = declared.expansion,
                        .variants = wanted, .root = root};
  absl::Status evaluated = options_.evaluator.Evaluate(
      input,
      [&](std::vector<Outcome> some) {
        for (Outcome& outcome : some) outcomes.push_back(std::move(outcome));
      },
      cancelled);
  OutcomeBatch batch;
  if (evaluated.ok()) batch = Complete(std::move(outcomes));
  options_.evaluator.Release(root);
  options_.source.Release(root);
  HYDRANT_RETURN_IF_ERROR(evaluated);

  std::map<size_t, const Outcome*> by_variant;
  for (const Outcome& outcome : batch.outcomes) by_variant[outcome.variant] = &outcome;
  std::vector<std::string> steps(batch.steps.begin(), batch.steps.end());
  const std::map<std::string, StepState> states = options_.coordinator.StatesOf(steps);
  std::map<std::string, int> wanters;
  for (VariantEntry& variant : entry.variants) {
    PlannedVariant planned{.record = variant.record, .state = "impossible"};
    auto found = by_variant.find(static_cast<size_t>(variant.record.ordinal));
    if (found != by_variant.end()) {
      const Outcome& outcome = *found->second;
      planned.record.cause = outcome.cause;
      planned.record.message = outcome.message;
      planned.record.derivation = outcome.derivation;
      planned.record.outputs = outcome.outputs;
    }
    if (!planned.record.derivation.empty()) {
      ++wanters[planned.record.derivation];
      auto held = batch.held.find(planned.record.derivation);
      auto state = states.find(planned.record.derivation);
      planned.state = "pending";
      if (held != batch.held.end()) {
        planned.state = "cached";
        planned.held_by = held->second;
      } else if (state != states.end() && (state->second == StepState::kFailed || state->second == StepState::kDependencyFailed)) {
        planned.state = StepStateName(state->second);
      }
    } else if (IsEvaluatorDeath(planned.record.cause)) {
      planned.state = "failed";
    }
    plan.variants.push_back(std::move(planned));
  }
  for (const std::string& step : batch.steps) {
    auto state = states.find(step);
    const bool failed = state != states.end() && (state->second == StepState::kFailed || state->second == StepState::kDependencyFailed);
    if (batch.held.contains(step)) {
      ++plan.present;
    } else if (!failed) {
      ++plan.build;
    }
  }
  for (const auto& [derivation, count] : wanters) plan.shared += count > 1 ? 1 : 0;
  return plan;
}

std::map<std::string, Answer> UpstreamMemory::Ask(const std::vector<std::string>& store_paths) {
  std::map<std::string, Answer> answers = presence_.Ask(store_paths);
  MutexLock lock(mu_);
  for (const auto& [path, answer] : answers) {
    if (answer.held == Held::kPresent) held_[path] = answer.cache;
  }
  return answers;
}

bool UpstreamMemory::Holds(const std::string& store_path) {
  {
    MutexLock lock(mu_);
    if (held_.contains(store_path)) return true;
  }
  return Ask({store_path})[store_path].held == Held::kPresent;
}

}  // namespace hydrant
