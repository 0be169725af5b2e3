#include "client/format/inspect_derivation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/format/description.h"
#include "client/format/json_document.h"
#include "client/format/text.h"
#include "client/format/writer.h"
#include "lib/nix/store_path.h"

namespace hydrant::client {
namespace {

std::string KindOf(const nix::DerivationOutput& output) {
  return std::string(nix::OutputKindName(output.kind()));
}

// What the environment says, else what the file is called.
std::string NameOf(const InspectedDerivation& inspected) {
  const std::string name = inspected.derivation.name();
  if (!name.empty()) return name;
  std::string file = inspected.path.substr(inspected.path.rfind('/') + 1);
  if (file.ends_with(".drv")) file.resize(file.size() - 4);
  const bool hashed = file.size() > nix::kHashPartLength + 1 && file[nix::kHashPartLength] == '-' &&
                      nix::IsHashPart(std::string_view(file).substr(0, nix::kHashPartLength));
  return hashed ? file.substr(nix::kHashPartLength + 1) : file;
}

Json OutputOf(const nix::DerivationOutput& output) {
  return {{"kind", KindOf(output)},
          {"path", Nullable(output.path)},
          {"hash_algo", Nullable(output.hash_algo)},
          {"hash", Nullable(output.hash)}};
}

Json Structured(const nix::Derivation& derivation) {
  const auto found = derivation.environment.find("__json");
  if (found == derivation.environment.end()) return nullptr;
  Json attributes = Json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  return attributes.is_discarded() ? Json(nullptr) : attributes;
}

Json DerivationOf(const InspectedDerivation& inspected) {
  const nix::Derivation& derivation = inspected.derivation;
  Json outputs = Json::object(), inputs = Json::object();
  for (const auto& [name, output] : derivation.outputs) outputs[name] = OutputOf(output);
  for (const auto& [path, names] : derivation.input_derivations) inputs[path] = names;
  return {{"path", inspected.path},
          {"name", NameOf(inspected)},
          {"system", derivation.system},
          {"builder", derivation.builder},
          {"arguments", derivation.arguments},
          {"required_system_features", derivation.required_system_features()},
          {"outputs", outputs},
          {"input_derivations", inputs},
          {"input_sources", derivation.input_sources},
          {"environment", derivation.environment},
          {"structured_attributes", Structured(derivation)}};
}

// A heading and one indented line for each of `lines`; nothing without lines.
void WriteSection(Writer& writer, std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  writer.Text("  ").Text(heading, Style::kDim).Line();
  for (const std::string& line : lines) writer.Text("    " + line).Line();
}

void WriteOutputs(Writer& writer, const nix::Derivation& derivation) {
  int name_width = 0, kind_width = 0;
  for (const auto& [name, output] : derivation.outputs) {
    name_width = std::max(name_width, DisplayWidth(Clean(name)));
    kind_width = std::max(kind_width, DisplayWidth(KindOf(output)));
  }
  std::vector<std::string> lines;
  for (const auto& [name, output] : derivation.outputs) {
    std::string line =
        absl::StrCat(PadRight(Clean(name), name_width), "  ", PadRight(KindOf(output), kind_width));
    for (const std::string* part : {&output.path, &output.hash_algo, &output.hash}) {
      if (!part->empty()) absl::StrAppend(&line, "  ", *part);
    }
    lines.push_back(std::move(line));
  }
  WriteSection(writer, "outputs", lines);
}

void WriteDerivation(Writer& writer, const InspectedDerivation& inspected) {
  const nix::Derivation& derivation = inspected.derivation;
  writer.Text(inspected.path, Style::kBold).Line();
  Describe(writer, "name", NameOf(inspected));
  Describe(writer, "system", derivation.system);
  Describe(writer, "features", absl::StrJoin(derivation.required_system_features(), " "));
  Describe(writer, "builder", derivation.builder);
  WriteSection(writer, "arguments", derivation.arguments);
  WriteOutputs(writer, derivation);
  std::vector<std::string> inputs, variables;
  for (const auto& [path, names] : derivation.input_derivations)
    inputs.push_back(absl::StrCat(path, "  ", absl::StrJoin(names, " ")));
  for (const auto& [name, value] : derivation.environment)
    variables.push_back(absl::StrCat(name, "=", value));
  WriteSection(writer, "inputs", inputs);
  WriteSection(writer, "sources", {derivation.input_sources.begin(), derivation.input_sources.end()});
  WriteSection(writer, "environment", variables);
}

}  // namespace

std::string FormatDerivations(const std::vector<InspectedDerivation>& derivations, const Screen& screen) {
  Writer writer(screen);
  bool first = true;
  for (const InspectedDerivation& inspected : derivations) {
    if (!first) writer.Line();
    first = false;
    WriteDerivation(writer, inspected);
  }
  return writer.Take();
}

std::string DerivationJson(const InspectedDerivation& inspected, JsonLayout layout) {
  return Dump(DerivationOf(inspected), layout);
}

std::string DerivationsJson(const std::vector<InspectedDerivation>& derivations, JsonLayout layout) {
  return DumpList("derivations", List(derivations, DerivationOf), layout);
}

}  // namespace hydrant::client
