#include "daemon/audit/variant_tier.h"

#include <algorithm>
#include <vector>

namespace hydrant {

Tier TierOfVariant(const LicencePolicy& policy, const VariantFacts& facts) {
  std::vector<LicencePolicy::Licence> own;
  for (const Licence& licence : facts.licences) own.push_back({licence.name, licence.free});
  if (own.empty() && facts.unfree) own.push_back({"unknown", !*facts.unfree});
  const Tier tier = policy.OfPackage(own);
  if (facts.unfree_through.empty()) return tier;
  return std::max(tier, policy.OfLicence(facts.unfree_licence, /*free=*/false));
}

}  // namespace hydrant
