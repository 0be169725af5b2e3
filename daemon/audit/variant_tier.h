// The tier of a variant before it is built, as far as its facts tell. Pure.
#ifndef HYDRANT_DAEMON_AUDIT_VARIANT_TIER_H_
#define HYDRANT_DAEMON_AUDIT_VARIANT_TIER_H_

#include "daemon/evaluate/variant_facts.h"
#include "lib/matrix/licence.h"

namespace hydrant {

// The most private of its own licences and of the nearest unfree package among its inputs, build-time ones
// included: what was compiled with a header or a static library may hold a part of it. Unfree inputs behind
// the nearest one, or farther away than the evaluator looks, are not seen: the cache judges each path of the
// closure by its name as well (LicencePolicy::OfName).
Tier TierOfVariant(const LicencePolicy& policy, const VariantFacts& facts);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_AUDIT_VARIANT_TIER_H_
