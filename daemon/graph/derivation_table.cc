#include "daemon/graph/derivation_table.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace hydrant {

namespace {

// As a number that is in the order of the texts, as far as it goes.
uint64_t FirstBytes(std::string_view text) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < sizeof bytes; ++i) {
    bytes = bytes << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return bytes;
}

HashedText Hashed(std::string_view text) { return {text, std::hash<std::string_view>()(text)}; }

// By the hash part of a store path, which is as good as any hash of it.
HashedText HashedPath(std::string_view path) {
  constexpr size_t kEnd = sizeof("/nix/store/0123456789abcdfghijklmnpqrsvwxyz") - 1;
  if (path.size() < kEnd) return Hashed(path);
  uint64_t a, b;
  std::memcpy(&a, path.data() + kEnd - 16, sizeof a);
  std::memcpy(&b, path.data() + kEnd - 8, sizeof b);
  const auto product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15U) * (b ^ 0xD6E8FEB86659FD93U);
  return {path, static_cast<size_t>(product >> 64) ^ static_cast<size_t>(product)};
}

}  // namespace

DerivationNumber DerivationTable::Meet(std::string_view path) {
  HashedText key = HashedPath(path);
  if (const auto found = by_path_.find(key); found != by_path_.end()) return found->second;
  const auto number = static_cast<DerivationNumber>(nodes_.size());
  Node node;
  node.path = key.text = texts_.Keep(path);
  node.name = NameOfDerivation(node.path);
  const PackageName split = SplitPackageName(node.name);
  node.version = split.version;
  node.package = InternPackage(split.package);
  node.order = FirstBytes(split.package);
  node.identity = number;
  by_path_.emplace(key, number);
  nodes_.push_back(node);
  return number;
}

std::optional<DerivationNumber> DerivationTable::Find(std::string_view path) const {
  const auto found = by_path_.find(HashedPath(path));
  return found == by_path_.end() ? std::nullopt : std::optional(found->second);
}

uint32_t DerivationTable::InternPackage(std::string_view package) {
  const auto [found, added] =
      package_numbers_.try_emplace(Hashed(package), static_cast<uint32_t>(packages_.size()));
  if (added) {
    packages_.push_back(package);
    const auto next = static_cast<uint32_t>(family_numbers_.size());
    families_of_.push_back(family_numbers_.try_emplace(WithoutNumbers(package), next).first->second);
  }
  return found->second;
}

// The number of the first derivation that has these outputs.
uint32_t DerivationTable::InternOutputs(const Facts& facts, DerivationNumber own) {
  joined_.clear();
  for (std::string_view output : facts.outputs) {
    if (output.empty()) return own;
    joined_.append(output);
    joined_ += '\n';
  }
  if (joined_.empty()) return own;
  HashedText key = HashedPath(joined_);
  if (const auto found = identities_.find(key); found != identities_.end()) return found->second;
  key.text = texts_.Keep(joined_);
  identities_.emplace(key, own);
  return own;
}

uint32_t DerivationTable::InternSystem(std::string_view system) {
  auto found = std::find(systems_.begin(), systems_.end(), system);
  if (found == systems_.end()) found = systems_.insert(found, std::string(system));
  return static_cast<uint32_t>(found - systems_.begin());
}

DerivationNumber DerivationTable::Fill(const Facts& facts) {
  const DerivationNumber number = Meet(facts.path);
  if (nodes_[number].filled) return number;
  const size_t first = edges_.size();
  for (std::string_view input : facts.inputs) edges_.push_back(Meet(input));
  std::sort(edges_.begin() + static_cast<ptrdiff_t>(first), edges_.end(),
            [this](DerivationNumber a, DerivationNumber b) { return Before(a, b); });
  Node& node = nodes_[number];
  node.inputs = static_cast<uint32_t>(first);
  node.input_count = static_cast<uint32_t>(edges_.size() - first);
  node.fixed = facts.fixed_output;
  node.identity = InternOutputs(facts, number);
  node.system = InternSystem(facts.system);
  node.filled = true;
  return number;
}

bool DerivationTable::Before(DerivationNumber a, DerivationNumber b) const {
  const Node &x = nodes_[a], &y = nodes_[b];
  if (x.order != y.order) return x.order < y.order;
  if (x.package != y.package) return packages_[x.package] < packages_[y.package];
  if (const int order = x.name.compare(y.name); order != 0) return order < 0;
  return x.path < y.path;
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
