#include "lib/base/fd_stream.h"

#include <errno.h>
#include <unistd.h>

#include "lib/base/file.h"

namespace hydrant {

absl::StatusOr<size_t> FdSource::Read(std::span<char> buffer) {
  while (true) {
    const ssize_t n = read(fd_, buffer.data(), buffer.size());
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return ErrnoStatus(errno, "read " + name_);
  }
}

absl::Status FdSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "write " + name_);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace hydrant
