#include "daemon/evaluate/variant_patience.h"

#include <algorithm>

namespace hydrant {

void VariantPatience::Took(absl::Duration duration) {
  took_.insert(std::upper_bound(took_.begin(), took_.end(), duration), duration);
}

absl::Duration VariantPatience::Now() const {
  if (took_.empty()) return floor_;
  return std::max(floor_, 10 * took_[(took_.size() - 1) / 2]);
}

}  // namespace hydrant
