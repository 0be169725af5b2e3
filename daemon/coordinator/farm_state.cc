#include "daemon/coordinator/farm_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/matrix_reader.h"
#include "lib/nix/hash.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

// Fields are length-prefixed, so that no two different lists run together.
void Append(std::string& text, std::string_view field) {
  absl::StrAppend(&text, field.size(), ":", AbslView(field), ";");
}

std::string EnvironmentOf(const CheckSpec& spec, const VariantRecord& variant) {
  if (spec.environment == "output") return "";
  return variant.environment_output;  // by default of a package of the Python set, which alone has one
}

CheckRecord CheckOf(const CheckSpec& spec, const VariantRecord& variant, const std::string& output,
                    const std::string& architecture) {
  CheckRecord check;
  check.name = spec.name;
  check.output_path = output;
  check.environment_path = EnvironmentOf(spec, variant);
  check.command = spec.command;
  check.gpu = spec.gpu;
  check.wanted_architecture = architecture;
  check.timeout = spec.timeout;
  std::string text;
  for (std::string_view field : {std::string_view(check.output_path), std::string_view(check.environment_path),
                                 std::string_view(check.name), std::string_view(architecture),
                                 std::string_view(check.gpu ? "gpu" : "")}) {
    Append(text, field);
  }
  for (const std::string& word : check.command) Append(text, word);
  check.key = nix::HashSha256(text).ToBase32();
  return check;
}

std::vector<std::string> ArchitecturesOf(const CheckSpec& spec, const std::set<std::string>& gpu_architectures) {
  if (!spec.gpu) return {""};
  std::set<std::string> found;
  for (const std::string& word : spec.gpu_architectures) {
    if (word == "any") {
      found.insert("");
    } else if (word == "each") {
      found.insert(gpu_architectures.begin(), gpu_architectures.end());
    } else {
      found.insert(word);
    }
  }
  if (found.empty()) found.insert("");
  return {found.begin(), found.end()};
}

std::string MainOutput(const VariantRecord& variant) {
  auto out = variant.outputs.find("out");
  if (out == variant.outputs.end()) out = variant.outputs.begin();
  return out == variant.outputs.end() ? "" : out->second;
}

bool IsRequired(const Matrix& matrix, const Variant& variant) {
  return std::any_of(matrix.gate.required.begin(), matrix.gate.required.end(),
                     [&](const std::string& glob) { return MatchesVariant(matrix, glob, variant); });
}

void LinkSteps(FarmState& state, VariantRef ref, VariantEntry& variant) {
  variant.step = state.graph.Find(variant.record.derivation);
  if (!variant.record.environment.empty()) variant.environment_step = state.graph.Find(variant.record.environment);
  for (const std::optional<StepId>& step : {variant.step, variant.environment_step}) {
    if (step) state.users[*step].push_back(ref);
  }
  if (variant.step) state.publish_due.insert(*variant.step);
  variant.checks.clear();
}

void LinkCheck(FarmState& state, VariantRef ref, VariantEntry& variant, const std::string& key) {
  CheckEntry& entry = state.checks.at(key);
  variant.checks.push_back(key);
  entry.users.push_back(ref);
  entry.output_step = variant.step;
  if (!entry.record.environment_path.empty()) entry.environment_step = variant.environment_step;
  state.checks_due.insert(key);
}

// Whether a recorded check is the one that the matrix now asks of the variant.
bool IsOf(const CheckSpec& spec, const VariantRecord& variant, const CheckRecord& check) {
  const std::vector<std::string>& words = spec.gpu_architectures;
  const bool architecture = check.wanted_architecture.empty() ||
                            std::find(words.begin(), words.end(), "each") != words.end() ||
                            std::find(words.begin(), words.end(), check.wanted_architecture) != words.end();
  return check.name == spec.name && check.gpu == spec.gpu && check.command == spec.command && architecture &&
         check.environment_path == EnvironmentOf(spec, variant);
}

}  // namespace

const EvaluationEntry* NewestEvaluation(const FarmState& state, const std::string& matrix, const std::string& branch) {
  for (auto it = state.evaluations.rbegin(); it != state.evaluations.rend(); ++it) {
    const EvaluationRecord& record = it->second.record;
    if (record.matrix == matrix && (branch.empty() || record.branch == branch)) return &it->second;
  }
  return nullptr;
}

EvaluationEntry* NewestEvaluation(FarmState& state, const std::string& matrix, const std::string& branch) {
  return const_cast<EvaluationEntry*>(NewestEvaluation(std::as_const(state), matrix, branch));
}

std::string DigestOf(const MatrixTextRecord& text) {
  std::string all;
  Append(all, text.toml);
  for (const auto& [path, bytes] : text.files) {
    Append(all, path);
    Append(all, bytes);
  }
  Append(all, text.directory);
  Append(all, text.file);
  return nix::HashSha256(all).ToBase32();
}

absl::StatusOr<std::shared_ptr<const Declared>> Declare(MatrixTextRecord text, const std::string& system) {
  auto declared = std::make_shared<Declared>();
  MatrixText source{.toml = text.toml, .files = text.files};
  HYDRANT_ASSIGN_OR_RETURN(declared->matrix, ReadMatrix(source, text.file, text.directory));
  HYDRANT_ASSIGN_OR_RETURN(declared->expansion, ExpandDerivedMatrix(declared->matrix, system, {}));
  text.digest = DigestOf(text);
  declared->text = std::move(text);
  return std::shared_ptr<const Declared>(std::move(declared));
}

absl::StatusOr<std::shared_ptr<const Derived>> ExpandDerived(const Declared& declared, const std::string& system,
                                                             Derived derived) {
  const Matrix& matrix = declared.matrix;
  if (derived.packages.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "matrix ", matrix.name, ": its package list is empty: ", matrix.derived->changed_by,
        " changes no package that the filter (", absl::StrJoin(matrix.derived->filter, " "), ") leaves"));
  }
  HYDRANT_ASSIGN_OR_RETURN(derived.expansion, ExpandDerivedMatrix(matrix, system, derived.packages));
  return std::make_shared<const Derived>(std::move(derived));
}

std::shared_ptr<const Derived> FindDerived(const FarmState& state, const std::string& digest, const std::string& revision) {
  for (auto it = state.evaluations.rbegin(); it != state.evaluations.rend(); ++it) {
    const EvaluationEntry& evaluation = it->second;
    if (evaluation.derived == nullptr || !evaluation.derived->complete) continue;
    if (evaluation.record.digest == digest && evaluation.record.revision == revision) return evaluation.derived;
  }
  return nullptr;
}

EvaluationEntry NewEvaluationEntry(EvaluationRecord record, std::shared_ptr<const Declared> declared,
                                   std::shared_ptr<const Derived> derived) {
  EvaluationEntry entry;
  entry.record = std::move(record);
  entry.declared = std::move(declared);
  entry.derived = std::move(derived);
  if (entry.lacks_packages()) return entry;
  const Matrix& matrix = entry.declared->matrix;
  const Expansion& expansion = entry.expansion();
  std::set<std::string> matched;
  for (size_t i = 0; i < expansion.variants.size(); ++i) {
    const Variant& variant = expansion.variants[i];
    const bool excluded = variant.cause == Cause::kExcluded;
    for (const std::string& each : matrix.gate.required) {
      if (!excluded && MatchesVariant(matrix, each, variant)) matched.insert(each);
    }
    if (!entry.record.only.empty() && !MatchesVariant(matrix, entry.record.only, variant)) continue;
    VariantEntry added;
    added.record.evaluation = entry.record.id;
    added.record.ordinal = static_cast<int>(i);
    added.record.id = variant.id;
    added.record.package = variant.package;
    added.record.slice_json = SliceJson(expansion.slices[variant.slice]);
    added.record.cause = variant.cause;
    added.record.message = variant.message;
    added.known = variant.cause != Cause::kNone;
    added.required = !excluded && IsRequired(matrix, variant);
    entry.variants.push_back(std::move(added));
  }
  for (const std::string& glob : matrix.gate.required) {
    if (!matched.contains(glob)) entry.unmatched.push_back(glob);
  }
  return entry;
}

void WantVariant(FarmState& state, const VariantEntry& variant, bool want) {
  if (variant.record.cause != Cause::kNone) return;
  for (const std::optional<StepId>& step : {variant.step, variant.environment_step}) {
    if (!step) continue;
    if (want) {
      state.graph.Want(*step);
    } else {
      state.graph.Unwant(*step);
    }
  }
  if (!want) return;
  if (variant.step) state.publish_due.insert(*variant.step);
  state.checks_due.insert(variant.checks.begin(), variant.checks.end());
}

void WantSteps(FarmState& state, EvaluationEntry& evaluation, bool want) {
  if (evaluation.wanting == want) return;
  evaluation.wanting = want;
  evaluation.changed = true;
  for (const VariantEntry& variant : evaluation.variants) WantVariant(state, variant, want);
}

std::set<std::string> GpuArchitectures(const FarmState& state) {
  std::set<std::string> found;
  for (const auto& [name, worker] : state.workers.all()) {
    for (const OfferedGpu& gpu : worker.offer.gpus) found.insert(gpu.architecture);
  }
  return found;
}

std::vector<CheckRecord> ChecksOf(const EvaluationEntry& evaluation, const VariantRecord& variant,
                                  const std::set<std::string>& gpu_architectures) {
  std::vector<CheckRecord> checks;
  const std::string output = MainOutput(variant);
  if (output.empty()) return checks;
  const Variant& cell = evaluation.expansion().variants[static_cast<size_t>(variant.ordinal)];
  const Matrix& matrix = evaluation.declared->matrix;
  for (const CheckSpec& spec : matrix.checks) {
    if (!MatchesVariant(matrix, spec.variants, cell)) continue;
    for (const std::string& architecture : ArchitecturesOf(spec, gpu_architectures)) {
      checks.push_back(CheckOf(spec, variant, output, architecture));
    }
  }
  return checks;
}

std::vector<CheckRecord> LinkVariant(FarmState& state, EvaluationEntry& evaluation, size_t place,
                                     const std::set<std::string>& gpu_architectures) {
  std::vector<CheckRecord> created;
  VariantEntry& variant = evaluation.variants[place];
  if (variant.record.derivation.empty()) return created;
  const VariantRef ref{evaluation.record.id, place};
  LinkSteps(state, ref, variant);
  for (CheckRecord& record : ChecksOf(evaluation, variant.record, gpu_architectures)) {
    auto [entry, added] = state.checks.try_emplace(record.key);
    if (added) {
      entry->second.record = record;
      state.checks_of[record.output_path].push_back(record.key);
    }
    LinkCheck(state, ref, variant, record.key);
    if (added) created.push_back(std::move(record));
  }
  return created;
}

void RelinkVariant(FarmState& state, EvaluationEntry& evaluation, size_t place) {
  VariantEntry& variant = evaluation.variants[place];
  if (variant.record.derivation.empty()) return;
  const VariantRef ref{evaluation.record.id, place};
  LinkSteps(state, ref, variant);
  const auto keys = state.checks_of.find(MainOutput(variant.record));
  if (keys == state.checks_of.end()) return;
  const Matrix& matrix = evaluation.declared->matrix;
  const Variant& declared = evaluation.expansion().variants[variant.record.ordinal];
  for (const CheckSpec& spec : matrix.checks) {
    if (!MatchesVariant(matrix, spec.variants, declared)) continue;
    for (const std::string& key : keys->second) {
      if (IsOf(spec, variant.record, state.checks.at(key).record)) LinkCheck(state, ref, variant, key);
    }
  }
}

void UnlinkVariant(FarmState& state, EvaluationEntry& evaluation, size_t place) {
  VariantEntry& variant = evaluation.variants[place];
  const auto is_it = [&](const VariantRef& ref) {
    return ref.evaluation == evaluation.record.id && ref.place == place;
  };
  if (evaluation.wanting) WantVariant(state, variant, false);
  for (const std::optional<StepId>& step : {variant.step, variant.environment_step}) {
    if (step) std::erase_if(state.users[*step], is_it);
  }
  for (const std::string& key : variant.checks) std::erase_if(state.checks.at(key).users, is_it);
  variant.step.reset();
  variant.environment_step.reset();
  variant.checks.clear();
  variant.published = false;
  variant.known = false;
  VariantRecord& record = variant.record;
  record.cause = Cause::kNone;
  for (std::string* text : {&record.message, &record.derivation, &record.environment, &record.environment_output,
                            &record.facts_json, &record.tier}) {
    text->clear();
  }
  record.outputs.clear();
  record.findings.clear();
  variant.facts = nullptr;
  evaluation.changed = true;
}

void Touch(FarmState& state, const std::vector<VariantRef>& users) {
  for (const VariantRef& ref : users) state.evaluations.at(ref.evaluation).changed = true;
}

void StepMoved(FarmState& state, StepId step, absl::Time now) {
  const StepState to = state.graph.state(step);
  if (to == StepState::kReady) {
    state.ready_since[step] = now;
  } else {
    state.ready_since.erase(step);
    state.step_unplaceable.erase(step);
  }
  const auto users = state.users.find(step);
  if (users == state.users.end()) return;
  Touch(state, users->second);
  if (to == StepState::kSucceeded) state.publish_due.insert(step);
  for (const VariantRef& ref : users->second) {
    const std::vector<std::string>& checks = state.evaluations.at(ref.evaluation).variants[ref.place].checks;
    state.checks_due.insert(checks.begin(), checks.end());
  }
}

void CheckMoved(FarmState& state, const std::string& key) {
  const CheckEntry& check = state.checks.at(key);
  if (check.record.state == CheckState::kReady) {
    state.ready_checks.insert(key);
  } else {
    state.ready_checks.erase(key);
    state.check_unplaceable.erase(key);
  }
  if (check.record.state == CheckState::kPassed && check.output_step) state.publish_due.insert(*check.output_step);
  state.checks_due.insert(key);
  Touch(state, check.users);
}

bool IsWanted(const FarmState& state, const CheckEntry& check) {
  return std::any_of(check.users.begin(), check.users.end(), [&](const VariantRef& ref) {
    const EvaluationEntry& evaluation = state.evaluations.at(ref.evaluation);
    return evaluation.wanting && evaluation.variants[ref.place].record.cause == Cause::kNone;
  });
}

bool NeedsClosure(const nix::Derivation& derivation) {
  return NeedsClosure(derivation.required_system_features());
}

bool NeedsClosure(const std::set<std::string>& required_features) {
  return std::any_of(required_features.begin(), required_features.end(), [](const std::string& feature) {
    return feature == "cuda" || feature == "gpu" || feature == "nvidia-gpu" || feature == "opengl";
  });
}

void ForEachUser(const FarmState& state, StepId root,
                 const std::function<void(const EvaluationEntry&, const VariantEntry&, StepId own)>& take) {
  std::set<StepId> seen = {root};
  std::vector<StepId> todo = {root};
  while (!todo.empty()) {
    const StepId step = todo.back();
    todo.pop_back();
    if (auto users = state.users.find(step); users != state.users.end()) {
      for (const VariantRef& ref : users->second) {
        const EvaluationEntry& evaluation = state.evaluations.at(ref.evaluation);
        take(evaluation, evaluation.variants[ref.place], step);
      }
    }
    for (StepId dependent : state.graph.dependents(step)) {
      if (seen.insert(dependent).second) todo.push_back(dependent);
    }
  }
}

std::string NameOfPath(std::string_view path) {
  const auto parsed = nix::StorePath::Parse(path);
  return parsed.ok() ? std::string(parsed->name()) : "";
}

StepEvent RetryEventOf(const StepGraph& graph, StepId step) {
  for (StepId input : graph.inputs(step)) {
    if (graph.state(input) != StepState::kSucceeded) return StepEvent::kRetriedBlocked;
  }
  return StepEvent::kRetriedReady;
}

StepSpec SpecOf(const std::string& path, const nix::Derivation& derivation) {
  StepSpec spec;
  spec.derivation = path;
  auto parsed = nix::StorePath::Parse(path);
  spec.name = parsed.ok() ? std::string(parsed->name()) : path;
  if (spec.name.ends_with(".drv")) spec.name.resize(spec.name.size() - 4);
  spec.system = derivation.system;
  spec.features = derivation.required_system_features();
  for (const auto& [name, output] : derivation.outputs) spec.outputs[name] = output.path;
  for (const auto& [input, outputs] : derivation.input_derivations) spec.inputs.push_back(input);
  spec.fixed_output = derivation.fixed_output();
  return spec;
}

absl::StatusOr<std::vector<std::string>> InputPathsOf(const FarmState& state, const nix::Derivation& derivation) {
  std::set<std::string> paths = derivation.input_sources;
  for (const auto& [input, outputs] : derivation.input_derivations) {
    auto found = state.derivations.find(input);
    if (found == state.derivations.end()) {
      return absl::InternalError(absl::StrCat("the input derivation ", input, " is not in the record"));
    }
    for (const std::string& name : outputs) {
      auto output = found->second->parsed.outputs.find(name);
      if (output == found->second->parsed.outputs.end()) {
        return absl::InvalidArgumentError(absl::StrCat(input, " has no output ", name));
      }
      paths.insert(output->second.path);
    }
  }
  return std::vector<std::string>(paths.begin(), paths.end());
}

}  // namespace hydrant
