#include "lib/nix/path_archive_stream.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_encoding.h"
#include "lib/nix/daemon_format.h"

namespace hydrant::nix {

PathArchiveStream::PathArchiveStream(const std::vector<PathArchive>& paths) : paths_(paths) {
  WireWriter count;
  count.PutNumber(paths.size());
  head_ = count.Take();
}

absl::Status PathArchiveStream::BeginNext() {
  const PathArchive& path = paths_[next_++];
  absl::StatusOr<std::unique_ptr<Source>> opened = path.open();
  if (!opened.ok()) return Annotate(opened.status(), path.info.path);
  archive_ = *std::move(opened);
  left_ = path.info.nar_size;
  PathInfo sent = path.info;
  sent.registered = absl::InfinitePast();  // now
  WireWriter head;
  PutPathInfo(head, sent);
  head_ = head.Take();
  head_read_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<size_t> PathArchiveStream::Read(std::span<char> buffer) {
  while (true) {
    if (head_read_ < head_.size()) {
      const size_t n = head_.copy(buffer.data(), buffer.size(), head_read_);
      head_read_ += n;
      return n;
    }
    if (archive_ != nullptr) {
      const absl::StatusOr<size_t> n = archive_->Read(buffer);
      const std::string& path = paths_[next_ - 1].info.path;
      if (!n.ok()) return Annotate(n.status(), path);
      if (*n > left_ || (*n == 0 && left_ > 0)) {
        return absl::InvalidArgumentError(absl::StrCat(path, ": its archive is ",
                                                       *n == 0 ? "shorter" : "longer", " than ",
                                                       paths_[next_ - 1].info.nar_size, " bytes"));
      }
      left_ -= *n;
      if (*n > 0) return n;
      archive_ = nullptr;
    }
    if (next_ == paths_.size()) return size_t{0};
    HYDRANT_RETURN_IF_ERROR(BeginNext());
  }
}

}  // namespace hydrant::nix
