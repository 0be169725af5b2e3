// A content address in a narinfo is never only believed: the path is recomputed from it, and its hash is
// compared with the content where that can be done.
#ifndef HYDRANT_DAEMON_CACHE_CONTENT_ADDRESS_H_
#define HYDRANT_DAEMON_CACHE_CONTENT_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/stream.h"
#include "lib/nix/hash.h"
#include "lib/nix/narinfo.h"

namespace hydrant {

// OK when the address (not empty) gives the path, and its hash is the NAR's where it is one of a NAR.
// InvalidArgument; also for Git trees and BLAKE3, which nobody here can compute.
absl::Status CheckContentAddress(const nix::NarInfo& info);

// The SHA-256 of a file's bytes that the address claims, for those that are not of a NAR; nullopt for other
// algorithms.
std::optional<nix::Sha256Digest> FlatHashOf(std::string_view content_address);

// Hashes the content of the one plain file in a NAR.
class FlatFileHash final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override;
  absl::StatusOr<nix::Sha256Digest> Finish();  // InvalidArgument: the NAR is not one plain file

 private:
  std::string head_;
  uint64_t left_ = 0;
  bool in_content_ = false;
  nix::Sha256 hash_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_CONTENT_ADDRESS_H_
