// BlobStore in memory: the twin of LocalBlobStore. May be told that the disk is full.
#ifndef HYDRANT_TESTS_FAKES_MEMORY_BLOB_STORE_H_
#define HYDRANT_TESTS_FAKES_MEMORY_BLOB_STORE_H_

#include <sys/mman.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemon/cache/blob_store.h"
#include "lib/base/mutex.h"

namespace hydrant {

class MemoryBlobStore final : public BlobStore {
 public:
  explicit MemoryBlobStore(int64_t capacity = int64_t{1} << 40) : capacity_(capacity) {}

  absl::StatusOr<std::unique_ptr<Upload>> Begin(int64_t expected_size) override {
    if (expected_size > capacity_) return absl::ResourceExhaustedError("no space in the cache");
    return std::make_unique<MemoryUpload>(*this);
  }

  absl::StatusOr<Blob> Open(const BlobName& name) override {
    MutexLock lock(mu_);
    const auto found = blobs_.find(name);
    if (found == blobs_.end()) return absl::NotFoundError("no blob " + name.ToString());
    Blob blob;
    blob.fd = UniqueFd(memfd_create("blob", MFD_CLOEXEC));
    blob.size = static_cast<int64_t>(found->second.size());
    if (!blob.fd.valid() || write(blob.fd.get(), found->second.data(), found->second.size()) != blob.size ||
        lseek(blob.fd.get(), 0, SEEK_SET) != 0) {
      return absl::InternalError("memfd");
    }
    return blob;
  }

  bool Has(const BlobName& name) override {
    MutexLock lock(mu_);
    return blobs_.contains(name);
  }

  absl::StatusOr<std::vector<BlobName>> List() override {
    MutexLock lock(mu_);
    std::vector<BlobName> names;
    for (const auto& [name, bytes] : blobs_) names.push_back(name);
    return names;
  }

  absl::Status Delete(const BlobName& name) override {
    MutexLock lock(mu_);
    blobs_.erase(name);
    return absl::OkStatus();
  }

 private:
  class MemoryUpload final : public Upload {
   public:
    explicit MemoryUpload(MemoryBlobStore& store) : store_(store) {}
    absl::Status Write(std::string_view bytes) override {
      if (static_cast<int64_t>(bytes_.size() + bytes.size()) > store_.capacity_) {
        return absl::ResourceExhaustedError("no space in the cache");
      }
      bytes_ += bytes;
      return absl::OkStatus();
    }
    absl::Status Commit(const BlobName& name) override {
      MutexLock lock(store_.mu_);
      store_.blobs_.emplace(name, bytes_);
      return absl::OkStatus();
    }

   private:
    MemoryBlobStore& store_;
    std::string bytes_;
  };

  const int64_t capacity_;
  Mutex mu_;
  std::map<BlobName, std::string> blobs_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_MEMORY_BLOB_STORE_H_
