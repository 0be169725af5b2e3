// The SHA-256 of an archive that holds its own path, which follows from that hash: the path's hash part
// counts as zeros. Where it stood counts too in Nix 2.8, but no more in 2.26 (both observed): whoever checks
// such a path has to allow for either. Rules: Nix's libstore, HashModuloSink.
#ifndef HYDRANT_LIB_NIX_SELF_REFERENCE_HASH_H_
#define HYDRANT_LIB_NIX_SELF_REFERENCE_HASH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/stream.h"
#include "lib/nix/hash.h"

namespace hydrant::nix {

enum class SelfReferencePlaces { kCount, kIgnored };

// Equal to Sha256 of what was written when the hash part does not occur. One thread.
class SelfReferenceHash final : public Sink {
 public:
  explicit SelfReferenceHash(std::string_view hash_part,
                             SelfReferencePlaces places = SelfReferencePlaces::kCount)
      : hash_part_(hash_part), places_(places) {}
  absl::Status Write(std::string_view bytes) override;
  absl::StatusOr<Sha256Digest> Finish();  // once

 private:
  const std::string hash_part_;
  const SelfReferencePlaces places_;
  std::string held_;             // what may be the beginning of a hash part
  uint64_t passed_ = 0;          // bytes before held_
  std::vector<uint64_t> found_;  // empty when places are ignored
  Sha256 hash_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_SELF_REFERENCE_HASH_H_
