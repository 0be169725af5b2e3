#include "client/format/inspect_closure.h"

#include "absl/strings/str_cat.h"
#include "client/format/json_document.h"
#include "client/format/words.h"
#include "client/format/writer.h"

namespace hydrant::client {
namespace {

Json NodeOf(const nix::Closure& closure, const nix::ClosureNode& node) {
  Json inputs = Json::object(), outputs = Json::object();
  for (const nix::ClosureInput& input : node.inputs)
    inputs[closure.node(input.derivation).path()] = closure.names(input.output_names);
  for (const nix::ClosureOutput& output : node.outputs)
    outputs[std::string(closure.names(output.name).front())] = Nullable(closure.OutputPath(node, output));
  return {{"path", node.path()},
          {"system", closure.names(node.system).front()},
          {"required_system_features", closure.names(node.features)},
          {"fixed_output", node.fixed_output()},
          {"outputs", outputs},
          {"inputs", inputs}};
}

}  // namespace

std::string FormatClosure(const nix::Closure& closure, const Screen& screen) {
  const nix::ClosureCounts& counts = closure.counts();
  Writer writer(screen);
  writer
      .Text(absl::StrCat(Count(static_cast<int64_t>(counts.derivations), "derivation"), ", ",
                         Count(static_cast<int64_t>(counts.edges), "edge"), ", ",
                         Count(static_cast<int64_t>(counts.outputs), "output"), ", ", counts.fixed_outputs,
                         " fixed-output"),
            Style::kBold)
      .Line();
  for (const std::string& path : closure.SortedPaths()) writer.Text(path).Line();
  return writer.Take();
}

std::string ClosureJson(const nix::Closure& closure, JsonLayout layout) {
  if (layout == JsonLayout::kLines) {
    std::string lines;
    for (const nix::DerivationId id : closure.topological())
      lines += Dump(NodeOf(closure, closure.node(id)), layout);
    return lines;
  }
  const nix::ClosureCounts& counts = closure.counts();
  return Dump({{"derivations", counts.derivations},
               {"edges", counts.edges},
               {"outputs", counts.outputs},
               {"fixed_output", counts.fixed_outputs},
               {"paths", closure.SortedPaths()}},
              layout);
}

}  // namespace hydrant::client
