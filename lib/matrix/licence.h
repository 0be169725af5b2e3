// Who may have what a matrix makes: the two tiers of [license], and which of them a licence belongs to. Pure;
// knows nothing of caches.
#ifndef HYDRANT_LIB_MATRIX_LICENCE_H_
#define HYDRANT_LIB_MATRIX_LICENCE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/matrix/matrix.h"

namespace hydrant {

// The more private one is the larger.
enum class Tier { kPublic, kPrivate };
std::string_view TierName(Tier tier);  // "public", "private"
std::optional<Tier> ParseTier(std::string_view name);

// The [license] of one matrix. A list holds nixpkgs' short names ("CUDA EULA", compared without regard to
// case) and "free" or "unfree", which stand for all licences of the kind.
class LicencePolicy {
 public:
  LicencePolicy() = default;  // as without a [license]: everything is public
  explicit LicencePolicy(const Matrix& matrix);

  // Private where the private list has its name or kind, else public where the public one has, else private.
  Tier OfLicence(std::string_view name, bool free) const;
  // A package under several licences is under all of them; of no known licence it is private.
  struct Licence {
    std::string_view name;
    bool free = true;
  };
  Tier OfPackage(std::span<const Licence> licences) const;
  // Of a store path by the name in it, for what no evaluation looked at: the vendor's libraries that nixpkgs
  // packs (KnownLicences). Nothing: the name tells no licence.
  std::optional<Tier> OfName(std::string_view name) const;

  bool declared() const { return declared_; }

 private:
  bool declared_ = false;
  std::vector<std::string> public_, private_;  // in small letters
};

// Unfree packages by name: data with its source.
struct KnownLicence {
  std::string_view
      package;  // the name without version; one that ends in '_' or '-' stands for all that begin so
  std::string_view licence;
};
std::span<const KnownLicence> KnownLicences();

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_LICENCE_H_
