// A signer whose key is a file in Nix's format, mode 0600.
#ifndef HYDRANT_DAEMON_CACHE_FILE_SIGNER_H_
#define HYDRANT_DAEMON_CACHE_FILE_SIGNER_H_

#include <memory>
#include <string>
#include <string_view>

#include "daemon/cache/signer.h"
#include "lib/nix/signing_key.h"

namespace hydrant {

class FileSigner final : public Signer {
 public:
  // The release key. NotFound (names `hydrantd init`), FailedPrecondition when others may read the file,
  // InvalidArgument.
  static absl::StatusOr<std::unique_ptr<FileSigner>> Open(const std::string& path);
  // The farm-internal key: made there, under that name, when the file is absent.
  static absl::StatusOr<std::unique_ptr<FileSigner>> OpenOrGenerate(const std::string& path,
                                                                    std::string_view name);

  absl::StatusOr<std::string> Sign(std::string_view fingerprint) override { return key_.Sign(fingerprint); }
  std::string PublicKey() const override { return key_.public_key().ToString(); }

 private:
  explicit FileSigner(nix::SecretKey key) : key_(std::move(key)) {}
  const nix::SecretKey key_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_FILE_SIGNER_H_
