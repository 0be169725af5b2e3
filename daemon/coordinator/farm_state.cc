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

std::vector<std::string> ArchitecturesOf(const FarmState& state, const CheckSpec& spec) {
  if (!spec.gpu) return {""};
  std::set<std::string> found;
  for (const std::string& word : spec.gpu_architectures) {
    if (word == "any") {
      found.insert("");
    } else if (word == "each") {
      for (const auto& [name, worker] : state.workers.all()) {
        for (const OfferedGpu& gpu : worker.offer.gpus) found.insert(gpu.architecture);
      }
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

std::string RequiredGlob(const Matrix& matrix, const Variant& variant) {
  for (const std::string& glob : matrix.gate.required) {
    if (MatchesVariant(matrix, glob, variant)) return glob;
  }
  return "";
}

}  // namespace

const EvaluationEntry* NewestEvaluation(const FarmState& state, const std::string& matrix) {
  for (auto it = state.evaluations.rbegin(); it != state.evaluations.rend(); ++it) {
    if (it->second.record.matrix == matrix) return &it->second;
  }
  return nullptr;
}

EvaluationEntry* NewestEvaluation(FarmState& state, const std::string& matrix) {
  return const_cast<EvaluationEntry*>(NewestEvaluation(std::as_const(state), matrix));
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
  HYDRANT_ASSIGN_OR_RETURN(declared->expansion, ExpandMatrix(declared->matrix, system));
  text.digest = DigestOf(text);
  declared->text = std::move(text);
  return std::shared_ptr<const Declared>(std::move(declared));
}

EvaluationEntry NewEvaluationEntry(EvaluationRecord record, std::shared_ptr<const Declared> declared) {
  EvaluationEntry entry;
  entry.record = std::move(record);
  entry.declared = std::move(declared);
  const Matrix& matrix = entry.declared->matrix;
  const Expansion& expansion = entry.declared->expansion;
  std::set<std::string> matched;
  for (size_t i = 0; i < expansion.variants.size(); ++i) {
    const Variant& variant = expansion.variants[i];
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
    const std::string glob = RequiredGlob(matrix, variant);
    added.required = !glob.empty() && variant.cause != Cause::kExcluded;
    for (const std::string& each : matrix.gate.required) {
      if (MatchesVariant(matrix, each, variant)) matched.insert(each);
    }
    entry.variants.push_back(std::move(added));
  }
  for (const std::string& glob : matrix.gate.required) {
    if (!matched.contains(glob)) entry.unmatched.push_back(glob);
  }
  return entry;
}

void WantSteps(FarmState& state, EvaluationEntry& evaluation, bool want) {
  if (evaluation.wanting == want) return;
  evaluation.wanting = want;
  for (const VariantEntry& variant : evaluation.variants) {
    if (variant.record.cause != Cause::kNone) continue;
    for (const std::optional<StepId>& step : {variant.step, variant.environment_step}) {
      if (!step) continue;
      if (want) {
        state.graph.Want(*step);
      } else {
        state.graph.Unwant(*step);
      }
    }
  }
}

std::vector<CheckRecord> LinkVariant(FarmState& state, const EvaluationEntry& evaluation, VariantEntry& variant) {
  std::vector<CheckRecord> created;
  if (variant.record.derivation.empty()) return created;
  variant.step = state.graph.Find(variant.record.derivation);
  if (!variant.record.environment.empty()) variant.environment_step = state.graph.Find(variant.record.environment);
  variant.checks.clear();
  const std::string output = MainOutput(variant.record);
  if (output.empty()) return created;
  const Matrix& matrix = evaluation.declared->matrix;
  const Variant& declared = evaluation.declared->expansion.variants[variant.record.ordinal];
  for (const CheckSpec& spec : matrix.checks) {
    if (!MatchesVariant(matrix, spec.variants, declared)) continue;
    for (const std::string& architecture : ArchitecturesOf(state, spec)) {
      CheckRecord record = CheckOf(spec, variant.record, output, architecture);
      variant.checks.push_back(record.key);
      auto [entry, added] = state.checks.try_emplace(record.key);
      if (added) {
        entry->second.record = record;
        created.push_back(record);
      }
      entry->second.output_step = variant.step;
      if (!record.environment_path.empty()) entry->second.environment_step = variant.environment_step;
    }
  }
  return created;
}

bool NeedsClosure(const nix::Derivation& derivation) {
  const std::set<std::string> features = derivation.required_system_features();
  for (const char* feature : {"cuda", "gpu", "nvidia-gpu", "opengl"}) {
    if (features.contains(feature)) return true;
  }
  return false;
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
