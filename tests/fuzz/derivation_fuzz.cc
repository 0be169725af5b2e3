// A .drv file: what is read and printed again reads the same, and the view without copies agrees.
#include <algorithm>

#include "lib/nix/derivation.h"
#include "lib/nix/derivation_attributes.h"
#include "lib/nix/derivation_view.h"
#include "lib/nix/store_path.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

using nix::Unescape;

// The view's members, copied the plain way.
nix::Derivation Copied(const nix::DerivationView& view) {
  nix::Derivation d;
  for (const auto& output : view.outputs) {
    nix::DerivationOutput copy{Unescape(output.path), Unescape(output.hash_algo), Unescape(output.hash)};
    Demand(copy.kind() == output.kind, "the kind of an output is the same in view and struct");
    Demand(d.outputs.emplace(Unescape(output.name), copy).second, "no output is there twice");
  }
  for (const auto& input : view.input_derivations) {
    std::set<std::string>& names = d.input_derivations[Unescape(input.path)];
    for (const nix::RawString name : nix::SplitRawList(input.output_names)) names.insert(Unescape(name));
  }
  for (const nix::RawString source : view.input_sources) d.input_sources.insert(Unescape(source));
  d.system = Unescape(view.system);
  d.builder = Unescape(view.builder);
  for (const nix::RawString argument : view.arguments) d.arguments.push_back(Unescape(argument));
  for (const auto& variable : view.environment) {
    Demand(d.environment.emplace(Unescape(variable.name), Unescape(variable.value)).second,
           "no variable is there twice");
  }
  return d;
}

void Compare(const absl::StatusOr<nix::Derivation>& derivation, std::string_view input) {
  nix::DerivationView view;
  const absl::Status viewed = nix::ParseDerivationView(input, view);
  if (!derivation.ok() && viewed.ok()) {
    // Of an input's path the view checks the end alone.
    const bool bad_input = std::ranges::any_of(view.input_derivations, [](const auto& derivation_input) {
      return !nix::CheckStorePath(derivation_input.path).ok();
    });
    Demand(bad_input, "the view refuses what the struct refuses, but for inputs' paths",
           derivation.status().ToString());
    return;
  }
  Demand(viewed == derivation.status(), "view and struct give one verdict",
         viewed.ToString() + " / " + derivation.status().ToString());
  if (!viewed.ok()) return;
  Demand(Copied(view) == *derivation, "view and struct hold the same");
  const std::vector<std::string> features = nix::RequiredSystemFeatures(view);
  const std::set<std::string> wanted = derivation->required_system_features();
  Demand(
      std::set<std::string>(features.begin(), features.end()) == wanted && features.size() == wanted.size(),
      "view and struct want the same features");
  const auto of_view = nix::DerivationAttributes::Parse(view);
  const auto of_struct = nix::DerivationAttributes::Parse(derivation->environment);
  Demand(of_view.status() == of_struct.status(), "view and struct have the same attributes");
}

}  // namespace

void FuzzDerivation(std::string_view input) {
  const auto derivation = nix::ParseDerivation(input);
  Compare(derivation, input);
  if (!derivation.ok()) {
    Demand(derivation.status().code() == absl::StatusCode::kInvalidArgument, "a bad .drv is InvalidArgument",
           derivation.status().ToString());
    return;
  }
  derivation->name();
  derivation->fixed_output();
  const std::string printed = nix::PrintDerivation(*derivation);
  const auto again = nix::ParseDerivation(printed);
  DemandOk(again.status(), "what is printed can be read");
  Demand(*again == *derivation, "what is printed reads the same", printed);
  Demand(nix::PrintDerivation(*again) == printed, "printing is stable", printed);
}

}  // namespace hydrant::fuzz
