#include "daemon/coordinator/evaluation_audit.h"

#include <algorithm>
#include <optional>
#include <string>

#include "daemon/audit/asked_audit.h"
#include "daemon/audit/refusal.h"
#include "daemon/audit/variant_tier.h"
#include "lib/matrix/cuda_version.h"

namespace hydrant {
namespace {

using Axes = std::map<std::string, AxisValue>;

std::optional<CudaVersion> CudaOf(const Axes& axes) {
  const auto cuda = axes.find("cuda");
  if (cuda == axes.end() || cuda->second.words.empty()) return std::nullopt;
  return ParseCudaVersion(cuda->second.words[0]);
}

void Add(std::vector<Finding> more, std::vector<Finding>& findings) {
  for (Finding& finding : more) {
    const bool told = std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
      return other.rule == finding.rule && other.message == finding.message;
    });
    if (!told) findings.push_back(std::move(finding));
  }
}

}  // namespace

EvaluationAudit::EvaluationAudit(std::shared_ptr<const Declared> declared,
                                 std::shared_ptr<const Derived> derived,
                                 std::shared_ptr<ClosureAudit> closure)
    : declared_(std::move(declared)),
      derived_(std::move(derived)),
      policy_(declared_->matrix),
      closure_(std::move(closure)) {}

void TakeIn(const LoadedDerivation& derivation, ClosureAudit& closure) {
  if (closure.Knows(derivation.path)) return;
  const nix::Derivation& parsed = derivation.parsed;
  ClosureAudit::Facts facts{.path = derivation.path};
  for (const auto& [input, outputs] : parsed.input_derivations) facts.inputs.push_back(input);
  for (const auto& [name, output] : parsed.outputs) {
    if (!output.path.empty()) facts.outputs.push_back(output.path);
    facts.fixed_output = facts.fixed_output || output.fixed();
  }
  facts.environment.assign(parsed.environment.begin(), parsed.environment.end());
  closure.Take(facts);
}

void EvaluationAudit::Take(const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations) {
  for (const auto& loaded : derivations) TakeIn(*loaded, *closure_);
}

size_t EvaluationAudit::SliceOf(const VariantRecord& variant) const {
  return expansion().variants[static_cast<size_t>(variant.ordinal)].slice;
}

ClosureAudit::Libraries EvaluationAudit::UsualIn(size_t slice, const ClosureAudit::Libraries& named) const {
  const auto usual = libraries_.find(slice);
  ClosureAudit::Libraries libraries = usual == libraries_.end() ? ClosureAudit::Libraries() : usual->second;
  for (const auto& [library, derivations] : named) libraries.erase(library);
  return libraries;
}

std::vector<Finding> EvaluationAudit::Judge(const VariantRecord& variant, const VariantFacts* facts) const {
  if (variant.derivation.empty()) return {};
  const size_t slice = SliceOf(variant);
  const Axes& axes = expansion().slices[slice].axes;
  ClosureAudit::Libraries named;
  if (facts != nullptr) {
    for (const auto& [library, derivation] : facts->named) named[library] = {derivation};
  }
  std::vector<std::string_view> closures = {variant.derivation};
  if (!variant.environment.empty()) closures.push_back(variant.environment);
  std::vector<Finding> findings;
  for (std::string_view derivation : closures) {
    Add(closure_->Judge({.derivation = derivation, .cuda = CudaOf(axes), .libraries = &named}), findings);
  }
  if (facts != nullptr) Add(JudgeAsked(axes, *facts), findings);
  SetSeverity(declared_->matrix.audit_refuse, findings);
  const ClosureAudit::Libraries usual = UsualIn(slice, named);
  for (std::string_view derivation : closures) Add(closure_->JudgeLibraries(derivation, usual), findings);
  return findings;
}

void EvaluationAudit::Settle(VariantRecord& variant, const VariantFacts* facts) const {
  variant.tier = TierOf(facts);
  variant.findings = Judge(variant, facts);
  const std::optional<Refusal> refusal = RefusalOf(variant.findings);
  if (!refusal) return;
  variant.cause = refusal->cause;
  variant.message = refusal->message;
  variant.derivation.clear();
  variant.outputs.clear();
  variant.environment.clear();
  variant.environment_output.clear();
}

void EvaluationAudit::CompareSlices(const std::vector<const VariantRecord*>& variants) {
  std::map<size_t, std::vector<std::string_view>> roots;
  for (const VariantRecord* variant : variants) {
    if (!variant->derivation.empty()) roots[SliceOf(*variant)].push_back(variant->derivation);
  }
  for (const auto& [slice, of_slice] : roots) libraries_[slice] = closure_->UsedByMost(of_slice);
}

std::string_view EvaluationAudit::TierOf(const VariantFacts* facts) const {
  return TierName(TierOfVariant(policy_, facts == nullptr ? VariantFacts{} : *facts));
}

}  // namespace hydrant
