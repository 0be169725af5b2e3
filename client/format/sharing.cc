#include "client/format/sharing.h"

#include <algorithm>

namespace hydrant::client {

Sharing::Sharing(const Variants& variants) {
  for (const v1::VariantStatus& variant : variants) {
    if (variant.derivation().empty()) continue;
    auto& group = groups_[variant.derivation()];
    if (group.empty()) order_.push_back(variant.derivation());
    group.push_back(&variant);
  }
}

const std::vector<const v1::VariantStatus*>& Sharing::GroupOf(const v1::VariantStatus& variant) const {
  static const auto& none = *new std::vector<const v1::VariantStatus*>();
  const auto group = groups_.find(variant.derivation());
  return group == groups_.end() ? none : group->second;
}

std::vector<std::string> Sharing::Others(const v1::VariantStatus& variant) const {
  std::vector<std::string> ids;
  for (const v1::VariantStatus* other : GroupOf(variant)) {
    if (other == &variant) continue;
    if (ids.size() == kMostNamed) break;
    ids.push_back(other->id());
  }
  return ids;
}

std::vector<const std::vector<const v1::VariantStatus*>*> Sharing::AcrossPackages() const {
  std::vector<const std::vector<const v1::VariantStatus*>*> groups;
  for (const std::string_view derivation : order_) {
    const auto& group = groups_.at(derivation);
    const auto other = [&](const v1::VariantStatus* variant) {
      return variant->package() != group.front()->package();
    };
    if (std::any_of(group.begin(), group.end(), other)) groups.push_back(&group);
  }
  return groups;
}

}  // namespace hydrant::client
