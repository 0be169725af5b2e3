// What is known of a variant beside its outcome, as messages.
#include <algorithm>
#include <optional>

#include "daemon/audit/severity.h"
#include "daemon/serve/messages.h"

namespace hydrant {
namespace {

// As nixpkgs judges it, else by its licences; empty where it has none.
std::optional<bool> IsFree(const VariantFacts& facts) {
  if (facts.unfree) return !*facts.unfree;
  if (facts.licences.empty()) return std::nullopt;
  return std::all_of(facts.licences.begin(), facts.licences.end(), [](const Licence& licence) { return licence.free; });
}

v1::PackageFacts ToMessage(const VariantFacts& facts) {
  v1::PackageFacts message;
  for (const Licence& licence : facts.licences) {
    v1::Licence* added = message.add_licences();
    added->set_name(licence.name);
    added->set_free(licence.free);
  }
  if (const std::optional<bool> free = IsFree(facts)) message.set_free(*free);
  message.set_unfree_through(facts.unfree_through);
  message.set_unfree_licence(facts.unfree_licence);
  message.mutable_unfree_inputs()->Assign(facts.unfree_inputs.begin(), facts.unfree_inputs.end());
  message.set_marked_through(facts.marked_through);
  message.set_mark(facts.mark);
  message.mutable_marked_inputs()->Assign(facts.marked_inputs.begin(), facts.marked_inputs.end());
  if (facts.broken) message.set_broken(*facts.broken);
  if (facts.insecure) message.set_insecure(*facts.insecure);
  if (facts.unsupported) message.set_unsupported(*facts.unsupported);
  if (facts.hydra_platform) message.set_hydra_platform(*facts.hydra_platform);
  if (facts.cuda_support) message.set_cuda_support(*facts.cuda_support);
  if (facts.rocm_support) message.set_rocm_support(*facts.rocm_support);
  message.set_cuda_version(facts.cuda_version);
  message.mutable_capabilities()->Assign(facts.cuda_capabilities.begin(), facts.cuda_capabilities.end());
  message.set_python_version(facts.python_version);
  message.set_found_as(facts.found_as);
  message.set_recipe(facts.recipe);
  message.set_recipe_why(facts.recipe_why);
  return message;
}

}  // namespace

void SetFacts(const VariantRecord& record, const VariantFacts* facts, const HydraVerdict& hydra,
              v1::VariantStatus& variant) {
  if (facts != nullptr) *variant.mutable_facts() = ToMessage(*facts);
  if (hydra.skips) {
    v1::HydraVerdict* verdict = variant.mutable_hydra();
    verdict->set_skips(*hydra.skips);
    verdict->set_reason(hydra.reason);
    verdict->set_sentence(hydra.sentence);
  }
  for (const Finding& finding : record.findings) {
    v1::Finding* added = variant.add_findings();
    added->set_rule(finding.rule);
    added->set_severity(std::string(SeverityName(finding.severity)));
    added->set_message(finding.message);
    added->mutable_path()->Assign(finding.path.begin(), finding.path.end());
  }
  variant.set_tier(record.tier);
}

}  // namespace hydrant
