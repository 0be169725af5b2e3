#include "daemon/coordinator/plan.h"

#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "daemon/coordinator/evaluation_audit.h"
#include "daemon/coordinator/known_facts.h"
#include "daemon/coordinator/variant_state.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/axis_addition.h"

namespace hydrant {
namespace {

// What a variant would be, once its outcome is known.
PlannedVariant PlanVariant(const VariantRecord& record, const Outcome* outcome, const OutcomeBatch& batch,
                           const PlanBasis& basis) {
  PlannedVariant planned{.record = record, .state = "impossible"};
  if (outcome != nullptr) {
    planned.record.cause = outcome->cause;
    planned.record.message = outcome->message;
    planned.record.derivation = outcome->derivation;
    planned.record.outputs = outcome->outputs;
    planned.record.environment = outcome->environment;
    planned.record.environment_output = outcome->environment_output;
    if (outcome->cause == Cause::kNone) planned.facts = std::make_shared<const VariantFacts>(outcome->facts);
  }
  planned.hydra = HydraOf(planned.record, planned.facts.get());
  const std::string& derivation = planned.record.derivation;
  auto held = batch.held.find(derivation);
  if (derivation.empty()) {
    if (IsEvaluatorDeath(planned.record.cause)) planned.state = "failed";
  } else if (held != batch.held.end()) {
    planned.state = "cached";
    planned.held_by = held->second;
  } else if (auto failure = basis.failures.find(derivation); failure != basis.failures.end()) {
    planned.state = StepStateName(basis.states.at(derivation));
    planned.cause = failure->second.cause;
    planned.message = failure->second.message;
    planned.root = failure->second.root;
  } else {
    planned.state = "pending";
  }
  return planned;
}

// What the rules would find, once all is known.
void JudgePlanned(const EvaluationEntry& entry, const OutcomeBatch& batch, std::vector<PlannedVariant>& variants) {
  EvaluationAudit audit(entry.declared, entry.derived);
  audit.Take(batch.derivations);
  std::vector<const VariantRecord*> records;
  for (const PlannedVariant& variant : variants) records.push_back(&variant.record);
  audit.CompareSlices(records);
  for (PlannedVariant& variant : variants) {
    if (variant.record.derivation.empty()) continue;
    audit.Settle(variant.record, variant.facts.get());
    if (!variant.record.derivation.empty()) continue;
    variant.state = "failed";
    variant.held_by.clear();
  }
}

bool IsToBuild(const std::string& derivation, const OutcomeBatch& batch, const PlanBasis& basis) {
  return batch.steps.contains(derivation) && !batch.held.contains(derivation) && !basis.failures.contains(derivation);
}

// A plan in the making: what is to be built and checked, each once.
class Planner {
 public:
  Planner(const EvaluationEntry& entry, const OutcomeBatch& batch, const PlanBasis& basis)
      : entry_(entry), batch_(batch), basis_(basis) {}

  std::vector<PlannedVariant> Variants() const {
    std::map<size_t, const Outcome*> by_variant;
    for (const Outcome& outcome : batch_.outcomes) by_variant[outcome.variant] = &outcome;
    std::vector<PlannedVariant> variants;
    for (const VariantEntry& variant : entry_.variants) {
      auto outcome = by_variant.find(static_cast<size_t>(variant.record.ordinal));
      variants.push_back(PlanVariant(variant.record, outcome == by_variant.end() ? nullptr : outcome->second,
                                     batch_, basis_));
    }
    return variants;
  }

  // But what `done` would do.
  Workload Work(const std::vector<PlannedVariant>& variants, const std::set<std::string>& done) {
    Workload work;
    absl::flat_hash_map<std::string, size_t> places;
    for (const auto& loaded : batch_.derivations) {
      if (!IsToBuild(loaded->path, batch_, basis_) || !done_.insert(loaded->path).second || done.contains(loaded->path))
        continue;
      const StepSpec spec = SpecOf(loaded->path, loaded->parsed);
      Workload::Step step{.derivation = spec.derivation,
                          .name = spec.name,
                          .demand = {.system = spec.system, .features = spec.features}};
      for (const std::string& input : spec.inputs) {
        if (auto place = places.find(input); place != places.end()) step.inputs.push_back(place->second);
      }
      places[loaded->path] = work.steps.size();
      work.steps.push_back(std::move(step));
    }
    for (const PlannedVariant& variant : variants) AddChecks(variant, places, done, work);
    return work;
  }

  // What the workers have to do beside what Work had.
  std::vector<Backlog> Beside() const {
    std::vector<Backlog> beside;
    for (const Backlog& piece : basis_.backlog) {
      if (!done_.contains(piece.id)) beside.push_back(piece);
    }
    return beside;
  }

  // The derivations and checks that Work had.
  std::set<std::string> TakeDone() { return std::move(done_); }

 private:
  void AddChecks(const PlannedVariant& variant, const absl::flat_hash_map<std::string, size_t>& places,
                 const std::set<std::string>& done, Workload& work) {
    if (variant.state != "pending" && variant.state != "cached") return;
    for (const CheckRecord& check : ChecksOf(entry_, variant.record, basis_.gpu_architectures)) {
      if (basis_.decided_checks.contains(check.key) || !done_.insert(check.key).second ||
          done.contains(check.key))
        continue;
      Workload::Check added{.name = check.name,
                            .package = NameOfPath(check.output_path),
                            .demand = {.gpu = check.gpu, .gpu_architecture = check.wanted_architecture}};
      for (const std::string& step : {variant.record.derivation, variant.record.environment}) {
        if (auto place = places.find(step); place != places.end()) added.after.push_back(place->second);
      }
      work.checks.push_back(std::move(added));
    }
  }

  const EvaluationEntry& entry_;
  const OutcomeBatch& batch_;
  const PlanBasis& basis_;
  std::set<std::string> done_;
};

void CountVariants(const std::vector<PlannedVariant>& variants, PlanSummary& plan) {
  std::map<std::string, int> wanters;
  for (const PlannedVariant& variant : variants) {
    ++plan.totals[variant.state];
    if (!variant.record.derivation.empty()) ++wanters[variant.record.derivation];
  }
  for (const auto& [derivation, count] : wanters) plan.shared += count > 1 ? 1 : 0;
}

void CountSteps(const OutcomeBatch& batch, const PlanBasis& basis, PlanSummary& plan) {
  for (const std::string& step : batch.steps) {
    if (const auto held = batch.held.find(step); held != batch.held.end()) {
      ++plan.present;
      ++plan.present_in[held->second];
    } else if (IsToBuild(step, batch, basis)) {
      ++plan.build;
    }
  }
}

void CountDownloads(const OutcomeBatch& batch, const PlanBasis& basis, PlanSummary& plan) {
  for (const std::string& output : DownloadsOf(batch, basis)) {
    ++plan.downloads;
    const auto size = basis.file_sizes.find(output);
    if (size == basis.file_sizes.end()) {
      ++plan.unknown_downloads;
    } else {
      plan.download_bytes += size->second;
    }
  }
}

// The steps that the variants need, without those that only refused ones would have.
OutcomeBatch BuiltOf(const std::vector<PlannedVariant>& variants, const OutcomeBatch& batch) {
  OutcomeBatch built{.derivations = batch.derivations, .held = batch.held};
  for (const PlannedVariant& variant : variants) {
    if (variant.record.derivation.empty()) continue;
    built.steps.insert(variant.record.derivation);
    if (!variant.record.environment.empty()) built.steps.insert(variant.record.environment);
  }
  // As presence pruned it: below what is not held. Dependents come after their inputs.
  for (auto loaded = built.derivations.rbegin(); loaded != built.derivations.rend(); ++loaded) {
    if (!built.steps.contains((*loaded)->path) || built.held.contains((*loaded)->path)) continue;
    for (const auto& [input, outputs] : (*loaded)->parsed.input_derivations) built.steps.insert(input);
  }
  return built;
}

PlanView PlanOf(const EvaluationEntry& entry, const OutcomeBatch& batch, const PlanBasis& basis,
                std::set<std::string>* done) {
  PlanView plan;
  if (entry.derived != nullptr) plan.notes = entry.derived->notes;
  plan.variants = Planner(entry, batch, basis).Variants();
  JudgePlanned(entry, batch, plan.variants);
  const OutcomeBatch built = BuiltOf(plan.variants, batch);
  Planner planner(entry, built, basis);
  CountVariants(plan.variants, plan);
  CountSteps(built, basis, plan);
  CountDownloads(built, basis, plan);
  const Workload work = planner.Work(plan.variants, {});
  plan.forecast = MakeForecast(work, basis.history, basis.workers, planner.Beside());
  if (done != nullptr) *done = planner.TakeDone();
  return plan;
}

// A cell of the matrix, whatever its id: a package more may need longer names.
std::string CellOf(const EvaluationEntry& evaluation, const VariantRecord& record) {
  const Variant& variant = evaluation.expansion().variants[static_cast<size_t>(record.ordinal)];
  return variant.package + "\n" + evaluation.expansion().slices[variant.slice].key;
}

// The outcomes of the variants of `part`; which steps they need, PlanOf finds.
OutcomeBatch BatchOf(const EvaluationEntry& part, const EvaluationEntry& whole, const OutcomeBatch& batch) {
  absl::flat_hash_map<std::string, size_t> wanted;
  for (const VariantEntry& variant : part.variants) {
    wanted[CellOf(part, variant.record)] = static_cast<size_t>(variant.record.ordinal);
  }
  absl::flat_hash_map<int, size_t> ordinal_in_part;
  for (const VariantEntry& variant : whole.variants) {
    if (auto found = wanted.find(CellOf(whole, variant.record)); found != wanted.end()) {
      ordinal_in_part[variant.record.ordinal] = found->second;
    }
  }
  OutcomeBatch of_part{.derivations = batch.derivations, .held = batch.held};
  for (const Outcome& outcome : batch.outcomes) {
    auto ordinal = ordinal_in_part.find(static_cast<int>(outcome.variant));
    if (ordinal == ordinal_in_part.end()) continue;
    of_part.outcomes.push_back(outcome);
    of_part.outcomes.back().variant = ordinal->second;
  }
  return of_part;
}

void Subtract(const std::map<std::string, int64_t>& less, std::map<std::string, int64_t>& counts) {
  for (const auto& [word, count] : less) counts[word] -= count;
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
}

PlanSummary DifferenceOf(const PlanSummary& with, const PlanSummary& without, Forecast of_what_is_added) {
  PlanSummary difference = with;
  Subtract(without.totals, difference.totals);
  Subtract(without.present_in, difference.present_in);
  difference.build -= without.build;
  difference.present -= without.present;
  difference.shared -= without.shared;
  difference.downloads -= without.downloads;
  difference.download_bytes -= without.download_bytes;
  difference.unknown_downloads -= without.unknown_downloads;
  difference.forecast = std::move(of_what_is_added);
  difference.forecast.path = with.forecast.path - without.forecast.path;
  difference.forecast.throughput = with.forecast.throughput - without.forecast.throughput;
  difference.forecast.at_least = with.forecast.at_least - without.forecast.at_least;
  difference.forecast.at_most = with.forecast.at_most - without.forecast.at_most;
  return difference;
}

}  // namespace

std::set<std::string> DownloadsOf(const OutcomeBatch& batch, const PlanBasis& basis) {
  std::map<std::string, std::set<std::string>> used;  // .drv path -> names of outputs
  for (const auto& loaded : batch.derivations) {
    if (!IsToBuild(loaded->path, batch, basis)) continue;
    for (const auto& [input, outputs] : loaded->parsed.input_derivations) {
      if (batch.held.contains(input)) used[input].insert(outputs.begin(), outputs.end());
    }
  }
  std::set<std::string> downloads;
  for (const auto& loaded : batch.derivations) {
    const auto names = used.find(loaded->path);
    if (names == used.end()) continue;
    for (const auto& [name, output] : loaded->parsed.outputs) {
      if (names->second.contains(name)) downloads.insert(output.path);
    }
  }
  return downloads;
}

PlanView MakePlan(const std::string& revision, const EvaluationEntry& entry, const OutcomeBatch& batch,
                  const PlanBasis& basis) {
  PlanView plan = PlanOf(entry, batch, basis, nullptr);
  plan.revision = revision;
  return plan;
}

absl::StatusOr<std::shared_ptr<const Declared>> Extend(const Declared& declared,
                                                       const std::vector<std::string>& values,
                                                       std::string_view system) {
  auto extended = std::make_shared<Declared>(declared);
  for (const std::string& value : values) HYDRANT_RETURN_IF_ERROR(AddAxisValue(value, &extended->matrix));
  HYDRANT_ASSIGN_OR_RETURN(extended->expansion, ExpandDerivedMatrix(extended->matrix, system, {}));
  return std::shared_ptr<const Declared>(std::move(extended));
}

PlanView MakeAdditionPlan(const std::string& revision, const EvaluationEntry& part,
                          const EvaluationEntry& whole, const OutcomeBatch& batch, const PlanBasis& basis) {
  std::set<std::string> done;
  PlanView plan = PlanOf(part, BatchOf(part, whole, batch), basis, &done);
  plan.revision = revision;
  PlanView with = PlanOf(whole, batch, basis, nullptr);
  std::set<std::string> cells;
  for (const VariantEntry& variant : part.variants) cells.insert(CellOf(part, variant.record));
  PlanAddition addition;
  for (const PlannedVariant& variant : with.variants) {
    if (!cells.contains(CellOf(whole, variant.record))) addition.variants.push_back(variant);
  }
  const OutcomeBatch built = BuiltOf(with.variants, batch);
  const Workload added = Planner(whole, built, basis).Work(with.variants, done);
  addition.difference = DifferenceOf(with, plan, MakeForecast(added, basis.history, basis.workers, {}));
  addition.with = std::move(with);
  plan.addition = std::move(addition);
  return plan;
}

}  // namespace hydrant
