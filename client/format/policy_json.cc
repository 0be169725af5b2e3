#include "client/format/policy_json.h"

#include <string>

namespace hydrant::client {
namespace {

Json LicenceOf(const v1::PackageFacts& facts) {
  Json names = List(facts.licences(), [](const v1::Licence& licence) { return licence.name(); });
  Json json = {{"names", std::move(names)},
               {"free", facts.has_free() ? Json(facts.free()) : Json(nullptr)},
               {"through", Nullable(facts.unfree_through())}};
  if (!facts.unfree_through().empty()) {
    json["through_licence"] = Nullable(facts.unfree_licence());
    json["through_inputs"] = List(facts.unfree_inputs(), [](const std::string& name) { return name; });
  }
  return json;
}

Json FactsOf(const v1::PackageFacts& facts) {
  Json json = Json::object();
  if (facts.has_broken()) json["broken"] = facts.broken();
  if (facts.has_insecure()) json["insecure"] = facts.insecure();
  if (facts.has_unsupported()) json["unsupported"] = facts.unsupported();
  if (facts.has_hydra_platform()) json["hydra_platform"] = facts.hydra_platform();
  if (!facts.marked_through().empty()) {
    json["marked_input"] = {{"name", facts.marked_through()},
                            {"mark", facts.mark()},
                            {"through", List(facts.marked_inputs(), [](const std::string& name) { return name; })}};
  }
  if (facts.has_cuda_support()) json["cuda_support"] = facts.cuda_support();
  if (facts.has_rocm_support()) json["rocm_support"] = facts.rocm_support();
  if (!facts.cuda_version().empty()) json["cuda"] = facts.cuda_version();
  if (facts.capabilities_size() > 0) {
    json["capabilities"] = List(facts.capabilities(), [](const std::string& name) { return name; });
  }
  if (!facts.python_version().empty()) json["python"] = facts.python_version();
  if (!facts.found_as().empty()) json["found_as"] = facts.found_as();
  if (!facts.recipe().empty()) json["recipe"] = {{"name", facts.recipe()}, {"why", facts.recipe_why()}};
  return json;
}

Json FindingOf(const v1::Finding& finding) {
  return {{"rule", finding.rule()},
          {"severity", finding.severity()},
          {"message", finding.message()},
          {"path", List(finding.path(), [](const std::string& name) { return name; })}};
}

}  // namespace

void AddPolicy(const v1::VariantStatus& variant, Json& json) {
  json["licence"] = variant.has_facts() ? LicenceOf(variant.facts()) : Json(nullptr);
  json["hydra"] = nullptr;
  if (variant.has_hydra()) {
    json["hydra"] = {{"skips", variant.hydra().skips()},
                     {"reason", Nullable(variant.hydra().reason())},
                     {"message", variant.hydra().sentence()}};
  }
  json["tier"] = Nullable(variant.tier());
  json["findings"] = List(variant.findings(), FindingOf);
  if (Json facts = FactsOf(variant.facts()); !facts.empty()) json["facts"] = std::move(facts);
}

}  // namespace hydrant::client
