#include "lib/nix/derivation.h"

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/derivation_attributes.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {
namespace {

void AppendString(std::string& out, std::string_view value) {
  out += '"';
  while (true) {
    const size_t stop = value.find_first_of("\"\\\n\r\t");
    out.append(value.substr(0, stop));
    if (stop == std::string_view::npos) break;
    out += '\\';
    const char c = value[stop];
    out += c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
    value.remove_prefix(stop + 1);
  }
  out += '"';
}

template <typename Container, typename Append>
void AppendList(std::string& out, const Container& elements, Append append) {
  out += '[';
  bool first = true;
  for (const auto& element : elements) {
    if (!first) out += ',';
    first = false;
    append(element);
  }
  out += ']';
}

}  // namespace

OutputKind DerivationOutput::kind() const {
  if (hash_algo.empty()) return path.empty() ? OutputKind::kDeferred : OutputKind::kInputAddressed;
  if (hash.empty()) return OutputKind::kFloating;
  return hash == "impure" ? OutputKind::kImpure : OutputKind::kFixed;
}

bool Derivation::fixed_output() const {
  return outputs.size() == 1 && outputs.begin()->first == "out" && outputs.begin()->second.fixed();
}

std::set<std::string> Derivation::required_system_features() const {
  const std::vector<std::string> features = RequiredSystemFeatures(environment);
  return {features.begin(), features.end()};
}

std::string Derivation::name() const { return NameAttribute(environment); }

absl::StatusOr<Derivation> ParseDerivation(std::string_view aterm) {
  DerivationView view;
  HYDRANT_RETURN_IF_ERROR(ParseDerivationView(aterm, view));
  Derivation d;
  for (const DerivationView::Output& o : view.outputs) {
    d.outputs.emplace(Unescape(o.name), DerivationOutput{.path = std::string(o.path),
                                                         .hash_algo = std::string(o.hash_algo),
                                                         .hash = std::string(o.hash)});
  }
  for (const DerivationView::Input& input : view.input_derivations) {
    if (const absl::Status bad = CheckStorePath(input.path); !bad.ok()) {
      return Annotate(bad, absl::StrCat("derivation: byte ", input.path.data() - 1 - aterm.data()));
    }
    std::set<std::string>& names =
        d.input_derivations.emplace_hint(d.input_derivations.end(), input.path, std::set<std::string>())
            ->second;
    for (const RawString name : SplitRawList(input.output_names)) names.insert(Unescape(name));
  }
  for (const RawString source : view.input_sources)
    d.input_sources.emplace_hint(d.input_sources.end(), source);
  d.system = Unescape(view.system);
  d.builder = Unescape(view.builder);
  for (const RawString argument : view.arguments) d.arguments.push_back(Unescape(argument));
  for (const DerivationView::Variable& variable : view.environment) {
    d.environment.emplace_hint(d.environment.end(), Unescape(variable.name), Unescape(variable.value));
  }
  return d;
}

std::string PrintDerivation(const Derivation& derivation) {
  return PrintDerivation(derivation, PrintChanges{});
}

std::string PrintDerivation(const Derivation& derivation, const PrintChanges& changes) {
  std::string out = "Derive(";
  const auto string = [&out](const std::string& value) { AppendString(out, value); };
  AppendList(out, derivation.outputs, [&](const auto& output) {
    out += '(';
    AppendString(out, output.first);
    out += ',';
    AppendString(out, changes.mask_outputs ? "" : std::string_view(output.second.path));
    out += ',';
    AppendString(out, output.second.hash_algo);
    out += ',';
    AppendString(out, output.second.hash);
    out += ')';
  });
  out += ',';
  AppendList(out, changes.inputs != nullptr ? *changes.inputs : derivation.input_derivations,
             [&](const auto& input) {
               out += '(';
               AppendString(out, input.first);
               out += ',';
               AppendList(out, input.second, string);
               out += ')';
             });
  out += ',';
  AppendList(out, derivation.input_sources, string);
  out += ',';
  AppendString(out, derivation.system);
  out += ',';
  AppendString(out, derivation.builder);
  out += ',';
  AppendList(out, derivation.arguments, string);
  out += ',';
  AppendList(out, derivation.environment, [&](const auto& variable) {
    out += '(';
    AppendString(out, variable.first);
    out += ',';
    const bool masked = changes.mask_outputs && derivation.outputs.contains(variable.first);
    AppendString(out, masked ? "" : std::string_view(variable.second));
    out += ')';
  });
  out += ')';
  return out;
}

}  // namespace hydrant::nix
