// What AddMultipleToStore sends in its frames: the number of paths, then each one's facts and archive. Opens
// an archive when its turn comes; constant memory.
#ifndef HYDRANT_LIB_NIX_PATH_ARCHIVE_STREAM_H_
#define HYDRANT_LIB_NIX_PATH_ARCHIVE_STREAM_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/base/stream.h"
#include "lib/nix/daemon_client.h"

namespace hydrant::nix {

class PathArchiveStream final : public Source {
 public:
  // `paths` must outlive it.
  explicit PathArchiveStream(const std::vector<PathArchive>& paths);
  // A source's error with its path; InvalidArgument when an archive is not as long as its facts say, which
  // the reader could not tell from the beginning of the next.
  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  absl::Status BeginNext();

  const std::vector<PathArchive>& paths_;
  size_t next_ = 0;
  std::string head_;  // what goes before the archive's bytes
  size_t head_read_ = 0;
  std::unique_ptr<Source> archive_;
  uint64_t left_ = 0;  // of the archive
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_PATH_ARCHIVE_STREAM_H_
