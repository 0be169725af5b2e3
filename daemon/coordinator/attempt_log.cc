#include "daemon/coordinator/attempt_log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"

namespace hydrant {

absl::StatusOr<AttemptLog> AttemptLog::Open(std::string directory) {
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(directory, 0750));
  return AttemptLog(std::move(directory));
}

std::string AttemptLog::PathOf(AttemptId attempt) const {
  // A thousand files a folder.
  return absl::StrCat(directory_, "/", attempt.value / 1000, "/a", attempt.value, ".log");
}

absl::StatusOr<int64_t> AttemptLog::Append(AttemptId attempt, int64_t offset, std::string_view data, int64_t limit) {
  const std::string path = PathOf(attempt);
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(path.substr(0, path.rfind('/')), 0750));
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  struct stat s;
  if (fstat(fd.get(), &s) != 0) return ErrnoStatus(errno, absl::StrCat("stat ", path));
  const int64_t kept = s.st_size;
  if (offset > kept) return absl::OutOfRangeError(absl::StrCat("the log has ", kept, " bytes; send from there"));
  const int64_t known = kept - offset;
  if (known >= static_cast<int64_t>(data.size())) return kept;
  data.remove_prefix(static_cast<size_t>(known));
  if (limit > 0 && kept + static_cast<int64_t>(data.size()) > limit) {
    return absl::ResourceExhaustedError(absl::StrCat("the log would be longer than ", limit, " bytes"));
  }
  int64_t at = kept;
  while (!data.empty()) {
    const ssize_t n = pwrite(fd.get(), data.data(), data.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, absl::StrCat("write ", path));
    data.remove_prefix(static_cast<size_t>(n));
    at += n;
  }
  return at;
}

absl::StatusOr<std::string> AttemptLog::Read(AttemptId attempt, int64_t offset, size_t size) const {
  const std::string path = PathOf(attempt);
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT) return std::string();
    return ErrnoStatus(errno, absl::StrCat("open ", path));
  }
  std::string data(size, '\0');
  const ssize_t n = pread(fd.get(), data.data(), data.size(), offset);
  if (n < 0) return ErrnoStatus(errno, absl::StrCat("read ", path));
  data.resize(static_cast<size_t>(n));
  return data;
}

}  // namespace hydrant
