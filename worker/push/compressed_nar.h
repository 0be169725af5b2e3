// A store path's archive, compressed into a file, so that its hash (and with it the URL) is known before it
// is sent.
#ifndef HYDRANT_WORKER_PUSH_COMPRESSED_NAR_H_
#define HYDRANT_WORKER_PUSH_COMPRESSED_NAR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "lib/nix/daemon_client.h"
#include "worker/build/store_session.h"

namespace hydrant::worker {

// The file is removed with the object.
class CompressedNar {
 public:
  // zstd, constant memory, into a new file in `folder`. DataLoss when the files of the store are not what the
  // store recorded.
  static absl::StatusOr<CompressedNar> Make(StoreSession& session, const nix::PathInfo& info,
                                            const std::string& folder);
  CompressedNar(CompressedNar&& other) noexcept;
  ~CompressedNar();

  const nix::Sha256Digest& hash() const { return hash_; }
  uint64_t size() const { return size_; }
  // From its beginning, each time.
  absl::StatusOr<std::unique_ptr<Source>> Open() const;

 private:
  explicit CompressedNar(std::string file) : file_(std::move(file)) {}
  std::string file_;
  nix::Sha256Digest hash_;
  uint64_t size_ = 0;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_COMPRESSED_NAR_H_
