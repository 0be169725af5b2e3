// Signs narinfos with the release key or the farm-internal one. Knows nothing of where the keys are.
#ifndef HYDRANT_DAEMON_CACHE_SIGNER_H_
#define HYDRANT_DAEMON_CACHE_SIGNER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hydrant {

class Signer {
 public:
  virtual ~Signer() = default;
  // "name:base64" over `fingerprint`. Unavailable when the key cannot be reached now. Any thread.
  virtual absl::StatusOr<std::string> Sign(std::string_view fingerprint) = 0;
  virtual std::string PublicKey() const = 0;  // "name:base64"
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_SIGNER_H_
