// Where compressed NARs lie: write-once files, named by the SHA-256 of their bytes. Knows nothing of what is
// in them.
#ifndef HYDRANT_DAEMON_CACHE_BLOB_STORE_H_
#define HYDRANT_DAEMON_CACHE_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/base/stream.h"
#include "lib/base/unique_fd.h"

namespace hydrant {

// "<52 base32 characters>.nar", with ".zst", ".xz", ".bz2", ".gz" or nothing behind it.
struct BlobName {
  std::string file_hash, extension;  // extension with its dot, or empty
  std::string ToString() const { return file_hash + ".nar" + extension; }
  static absl::StatusOr<BlobName> Parse(std::string_view file_name);
  friend auto operator<=>(const BlobName&, const BlobName&) = default;
};

class BlobStore {
 public:
  // An upload that is not visible until Commit; destroyed before: nothing remains.
  class Upload : public Sink {
   public:
    // Durable (synced) and visible under `name`, or as it was when the name was there already.
    // ResourceExhausted: disk full.
    virtual absl::Status Commit(const BlobName& name) = 0;
  };
  struct Blob {
    UniqueFd fd;
    int64_t size = 0;  // bytes
  };

  virtual ~BlobStore() = default;
  // ResourceExhausted when `expected_size` (0: unknown) does not fit. Any thread; the upload itself one
  // thread.
  virtual absl::StatusOr<std::unique_ptr<Upload>> Begin(int64_t expected_size) = 0;
  // NotFound when there is none.
  virtual absl::StatusOr<Blob> Open(const BlobName& name) = 0;
  virtual bool Has(const BlobName& name) = 0;
  virtual absl::StatusOr<std::vector<BlobName>> List() = 0;
  // Absent: OK.
  virtual absl::Status Delete(const BlobName& name) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_BLOB_STORE_H_
