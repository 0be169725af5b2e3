#include "client/fd_stream.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant::client {

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

absl::StatusOr<std::string> ReadAll(Source& source, size_t limit) {
  constexpr size_t kFirst = 64 << 10;
  std::string text;
  size_t used = 0;
  while (true) {
    // One byte more than the limit tells a text of just that size from a longer one.
    if (used == text.size()) text.resize(std::min(std::max(2 * used, kFirst), limit + 1));
    HYDRANT_ASSIGN_OR_RETURN(const size_t n, source.Read({text.data() + used, text.size() - used}));
    used += n;
    if (used > limit) return absl::OutOfRangeError(absl::StrCat("expected at most ", limit, " bytes"));
    if (n == 0) {
      text.resize(used);
      return text;
    }
  }
}

}  // namespace hydrant::client
