// Verifies a NAR while it comes in: the file's hash must be the one in its name, the archive well-formed; its
// NarHash and size are remembered for the narinfo that follows. Nothing unverified becomes visible.
#ifndef HYDRANT_DAEMON_CACHE_NAR_INTAKE_H_
#define HYDRANT_DAEMON_CACHE_NAR_INTAKE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "daemon/cache/blob_store.h"
#include "lib/base/mutex.h"
#include "lib/nix/hash.h"

namespace hydrant {

struct BlobFacts {
  nix::Sha256Digest nar_hash;
  int64_t nar_size = 0, file_size = 0;
};

class NarIntake {
 public:
  static constexpr int64_t kMaxNarSize = int64_t{256} << 30;

  // `max_nar_size`: bytes of a decoded NAR; bounds what a small upload can make us decode.
  explicit NarIntake(BlobStore& blobs, int64_t max_nar_size = kMaxNarSize)
      : blobs_(blobs), max_nar_size_(max_nar_size) {}

  // One upload, fed block by block by one thread.
  class Upload : public Sink {
   public:
    // InvalidArgument: the bytes are not what the name claims, or not a NAR (nothing remains);
    // ResourceExhausted: disk full.
    virtual absl::StatusOr<BlobFacts> Finish() = 0;
  };
  // `length`: Content-Length. A body that is shorter or longer is InvalidArgument. ResourceExhausted: it does
  // not fit.
  absl::StatusOr<std::unique_ptr<Upload>> Begin(const BlobName& name, int64_t length);

  // The facts of a blob that is there; read (and verified) again when this process has not seen them.
  // NotFound; DataLoss when its bytes are no longer what its name says. Any thread.
  absl::StatusOr<BlobFacts> Facts(const BlobName& name);

  // Compresses (zstd), verifies and keeps an archive of our own, which `write` puts into the sink that it
  // gets.
  struct Taken {
    BlobName name;
    BlobFacts facts;
  };
  absl::StatusOr<Taken> Take(const std::function<absl::Status(Sink& nar)>& write);

  // Decodes a blob that is there into `nar`. NotFound.
  absl::Status Decode(const BlobName& name, Sink& nar);

 private:
  friend class IntakeUpload;
  void Remember(const BlobName& name, const BlobFacts& facts);
  BlobStore& blobs_;
  const int64_t max_nar_size_;
  Mutex mu_;
  absl::flat_hash_map<std::string, BlobFacts> facts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_NAR_INTAKE_H_
