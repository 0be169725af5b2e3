// Which variants one step serves: those of the same derivation. Knows nothing of how it is shown.
#ifndef HYDRANT_CLIENT_FORMAT_SHARING_H_
#define HYDRANT_CLIENT_FORMAT_SHARING_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/format/grid_layout.h"

namespace hydrant::client {

class Sharing {
 public:
  static constexpr size_t kMostNamed = 20;

  // Keeps pointers into `variants`. Linear in their number.
  explicit Sharing(const Variants& variants);

  // All variants of its derivation, itself among them, in their order; empty when it has none.
  const std::vector<const v1::VariantStatus*>& GroupOf(const v1::VariantStatus& variant) const;
  // The ids of the others, at most kMostNamed.
  std::vector<std::string> Others(const v1::VariantStatus& variant) const;
  // Groups of variants of several packages, in the order of their first variant.
  std::vector<const std::vector<const v1::VariantStatus*>*> AcrossPackages() const;

 private:
  std::unordered_map<std::string_view, std::vector<const v1::VariantStatus*>> groups_;
  std::vector<std::string_view> order_;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_SHARING_H_
