// Blobs as files of one folder: nar/<first 2 of the name>/<name>, written in incoming/ beside it and linked
// into place.
#ifndef HYDRANT_DAEMON_CACHE_LOCAL_BLOB_STORE_H_
#define HYDRANT_DAEMON_CACHE_LOCAL_BLOB_STORE_H_

#include <atomic>
#include <memory>
#include <string>

#include "daemon/cache/blob_store.h"

namespace hydrant {

class LocalBlobStore final : public BlobStore {
 public:
  struct Options {
    std::string directory;
    int64_t reserve = int64_t{256} << 20;  // bytes of the disk that uploads never take
  };

  // Makes the folders; removes what dead processes left in incoming/.
  static absl::StatusOr<std::unique_ptr<LocalBlobStore>> Open(Options options);

  absl::StatusOr<std::unique_ptr<Upload>> Begin(int64_t expected_size) override;
  absl::StatusOr<Blob> Open(const BlobName& name) override;
  bool Has(const BlobName& name) override;
  absl::StatusOr<std::vector<BlobName>> List() override;
  absl::Status Delete(const BlobName& name) override;

 private:
  explicit LocalBlobStore(Options options) : options_(std::move(options)) {}
  absl::Status RemoveLeftovers();
  std::string Incoming() const { return options_.directory + "/incoming"; }
  std::string Nars() const { return options_.directory + "/nar"; }
  std::string Folder(const BlobName& name) const { return Nars() + "/" + name.file_hash.substr(0, 2); }
  std::string Path(const BlobName& name) const { return Folder(name) + "/" + name.ToString(); }

  const Options options_;
  std::atomic<int64_t> next_{0};
  friend class LocalUpload;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_LOCAL_BLOB_STORE_H_
