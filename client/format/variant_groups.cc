#include <algorithm>
#include <map>
#include <tuple>

#include "client/format/status_report.h"

namespace hydrant::client {
namespace {

bool IsFailure(const std::string& state) { return state == "failed" || state == "dependency_failed"; }

}  // namespace

std::vector<VariantGroup> GroupVariants(const Variants& variants) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::vector<VariantGroup> groups;
  std::map<Key, size_t> index;
  for (const auto& variant : variants) {
    const bool failed = IsFailure(variant.state());
    if (!failed && variant.state() != "waiting" && variant.state() != "impossible") continue;
    // A failed check belongs to a variant, not to its derivation, which was built.
    const bool by_root = failed && !variant.root().empty() && variant.cause() != "check_failed";
    const Key key = by_root ? Key{"failed", variant.root(), ""}
                            : Key{failed ? "failed" : variant.state(), variant.cause(), variant.message()};
    const auto [found, added] = index.emplace(key, groups.size());
    if (added) groups.push_back({.state = std::get<0>(key), .root = by_root ? variant.root() : ""});
    VariantGroup& group = groups[found->second];
    if (added || (variant.state() == "failed" && group.variants.front()->state() != "failed")) {
      group.cause = variant.cause();
      group.message = variant.message();
    }
    // The one at fault first.
    const bool first = variant.state() == "failed" && by_root;
    const auto end_of_failed = std::find_if(group.variants.begin(), group.variants.end(),
                                            [](const auto* other) { return other->state() != "failed"; });
    group.variants.insert(first ? end_of_failed : group.variants.end(), &variant);
  }
  const auto rank = [](const VariantGroup& g) {
    return g.state == "failed" ? 0 : g.state == "waiting" ? 1 : 2;
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const VariantGroup& a, const VariantGroup& b) { return rank(a) < rank(b); });
  return groups;
}

}  // namespace hydrant::client
