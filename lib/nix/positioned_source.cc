#include "lib/nix/positioned_source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"

namespace hydrant::nix {
namespace {

absl::Status BeyondEnd(uint64_t offset, size_t length, uint64_t size) {
  return absl::OutOfRangeError(
      absl::StrCat("read ", length, " bytes at offset ", offset, ": the file has ", size, " bytes"));
}

}  // namespace

absl::StatusOr<FileBytes> FileBytes::Of(int fd) {
  struct stat found;
  if (fstat(fd, &found) != 0) return ErrnoStatus(errno, "stat a compressed file");
  if (!S_ISREG(found.st_mode)) return absl::InvalidArgumentError("a compressed file: expected a plain file");
  return FileBytes(fd, static_cast<uint64_t>(found.st_size));
}

absl::Status FileBytes::ReadAt(uint64_t offset, std::span<char> buffer) const {
  if (offset > size_ || buffer.size() > size_ - offset) return BeyondEnd(offset, buffer.size(), size_);
  while (!buffer.empty()) {
    const ssize_t n = pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "read a compressed file");
    if (n == 0)
      return absl::OutOfRangeError(absl::StrCat("the file was cut to ", offset, " bytes meanwhile"));
    offset += static_cast<uint64_t>(n);
    buffer = buffer.subspan(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status TextBytes::ReadAt(uint64_t offset, std::span<char> buffer) const {
  if (offset > size() || buffer.size() > size() - offset) return BeyondEnd(offset, buffer.size(), size());
  text_.copy(buffer.data(), buffer.size(), offset);
  return absl::OkStatus();
}

}  // namespace hydrant::nix
