#include "daemon/graph/derivation_table.h"

#include <algorithm>
#include <tuple>

namespace hydrant {

DerivationNumber DerivationTable::Meet(std::string_view path) {
  if (const auto found = by_path_.find(path); found != by_path_.end()) return found->second;
  const auto number = static_cast<DerivationNumber>(nodes_.size());
  Node node;
  node.path = paths_.emplace_back(path);
  node.name = NameOfDerivation(node.path);
  const PackageName split = SplitPackageName(node.name);
  node.version = split.version;
  node.package = InternPackage(split.package);
  node.identity = number;
  by_path_.emplace(node.path, number);
  nodes_.push_back(node);
  return number;
}

uint32_t DerivationTable::InternPackage(std::string_view package) {
  const auto [found, added] = package_numbers_.try_emplace(package, static_cast<uint32_t>(packages_.size()));
  if (added) {
    packages_.push_back(package);
    const auto next = static_cast<uint32_t>(family_numbers_.size());
    families_of_.push_back(family_numbers_.try_emplace(WithoutNumbers(package), next).first->second);
  }
  return found->second;
}

// The number of the first derivation that has these outputs.
uint32_t DerivationTable::InternOutputs(const Facts& facts) {
  const DerivationNumber own = by_path_.at(facts.path);
  std::string joined;
  for (std::string_view output : facts.outputs) {
    if (output.empty()) return own;
    joined.append(output);
    joined += '\n';
  }
  if (joined.empty()) return own;
  return identities_.try_emplace(std::move(joined), own).first->second;
}

uint32_t DerivationTable::InternSystem(std::string_view system) {
  auto found = std::find(systems_.begin(), systems_.end(), system);
  if (found == systems_.end()) found = systems_.insert(found, std::string(system));
  return static_cast<uint32_t>(found - systems_.begin());
}

DerivationNumber DerivationTable::Fill(const Facts& facts) {
  const DerivationNumber number = Meet(facts.path);
  if (nodes_[number].filled) return number;
  std::vector<DerivationNumber> inputs;
  inputs.reserve(facts.inputs.size());
  for (std::string_view input : facts.inputs) inputs.push_back(Meet(input));
  const auto key = [this](DerivationNumber d) {
    return std::tuple(packages_[nodes_[d].package], nodes_[d].name, nodes_[d].path);
  };
  std::sort(inputs.begin(), inputs.end(),
            [&](DerivationNumber a, DerivationNumber b) { return key(a) < key(b); });
  Node& node = nodes_[number];
  node.inputs = static_cast<uint32_t>(edges_.size());
  node.input_count = static_cast<uint32_t>(inputs.size());
  edges_.insert(edges_.end(), inputs.begin(), inputs.end());
  node.fixed = facts.fixed_output;
  node.identity = InternOutputs(facts);
  node.system = InternSystem(facts.system);
  node.filled = true;
  return number;
}

std::vector<DerivationNumber> DerivationTable::Unfilled(std::span<const DerivationNumber> roots) const {
  std::vector<DerivationNumber> unfilled, todo;
  std::vector<bool> seen(nodes_.size());
  const auto reach = [&](DerivationNumber d) {
    if (seen[d]) return;
    seen[d] = true;
    (nodes_[d].filled ? todo : unfilled).push_back(d);
  };
  for (DerivationNumber root : roots) reach(root);
  while (!todo.empty()) {
    const DerivationNumber d = todo.back();
    todo.pop_back();
    for (DerivationNumber input : inputs(d)) reach(input);
  }
  return unfilled;
}

}  // namespace hydrant
