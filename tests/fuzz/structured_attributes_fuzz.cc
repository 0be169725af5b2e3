// The JSON of a derivation with structured attributes: any text may stand there.
#include "lib/nix/derivation.h"
#include "lib/nix/derivation_attributes.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {

namespace {

// Typed access: a value or InvalidArgument, whatever stands there.
void Read(const std::map<std::string, std::string>& environment) {
  const auto attributes = nix::DerivationAttributes::Parse(environment);
  const auto options = nix::OptionsOf(environment);
  for (const absl::Status& status : {attributes.status(), options.status()}) {
    Demand(status.ok() || status.code() == absl::StatusCode::kInvalidArgument,
           "bad attributes are InvalidArgument", status.ToString());
  }
  if (!attributes.ok()) return;
  Demand(attributes->structured(), "with __json attributes are structured");
  for (const char* name : {"name", "requiredSystemFeatures", "preferLocalBuild", "outputs", "absent"}) {
    for (const absl::Status& status : {attributes->String(name).status(), attributes->Bool(name).status(),
                                       attributes->Strings(name).status()}) {
      Demand(status.ok() || status.code() == absl::StatusCode::kInvalidArgument,
             "a wrong type is InvalidArgument", status.ToString());
    }
  }
}

}  // namespace

void FuzzStructuredAttributes(std::string_view input) {
  nix::Derivation derivation;
  derivation.outputs["out"] = {};
  derivation.environment = {{"__json", std::string(input)}, {"requiredSystemFeatures", "a b"}};
  Read(derivation.environment);
  const std::string name = derivation.name();
  const std::set<std::string> features = derivation.required_system_features();
  const auto again = nix::ParseDerivation(nix::PrintDerivation(derivation));
  DemandOk(again.status(), "a derivation with any __json can be printed and read");
  Demand(again->name() == name && again->required_system_features() == features,
         "name and features are the same after printing and reading");
}

}  // namespace hydrant::fuzz
