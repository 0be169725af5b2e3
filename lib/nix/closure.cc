#include "lib/nix/closure.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/closure_graph.h"

namespace hydrant::nix {

std::string ClosureNode::path() const { return absl::StrCat(AbslView(kStoreDir), "/", AbslView(base_name)); }

const ClosureNode& Closure::node(DerivationId id) const { return graph_->entry(id).node; }

std::span<const std::string_view> Closure::names(uint32_t list) const { return graph_->names(list); }

std::string Closure::OutputPath(const ClosureNode& node, const ClosureOutput& output) const {
  if (output.hash_part == HashPart{}) return "";
  std::string_view name = node.base_name.substr(kHashPartLength + 1);
  name.remove_suffix(std::string_view(".drv").size());
  const std::string_view output_name = names(output.name).front();
  return absl::StrCat(AbslView(kStoreDir), "/", EncodeHashPart(output.hash_part), "-", AbslView(name),
                      output_name == "out" ? "" : "-", output_name == "out" ? "" : AbslView(output_name));
}

std::vector<std::string> Closure::SortedPaths() const {
  std::vector<std::string_view> names;
  names.reserve(order_.size());
  for (const DerivationId id : order_) names.push_back(node(id).base_name);
  std::sort(names.begin(), names.end());
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const std::string_view name : names)
    paths.push_back(absl::StrCat(AbslView(kStoreDir), "/", AbslView(name)));
  return paths;
}

}  // namespace hydrant::nix
