#include "lib/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"

namespace hydrant {
namespace {

absl::StatusCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EEXIST:
    case ENOTEMPTY:
      return absl::StatusCode::kAlreadyExists;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "write " + path);
    bytes.remove_prefix(n);
  }
  return absl::OkStatus();
}

// Empties and removes the folder `name` under `parent`; `path` is for messages.
absl::Status RemoveFolder(int parent, const char* name, const std::string& path) {
  UniqueFd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0) {
    fd.Reset(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!fd.valid()) return ErrnoStatus(errno, "open " + path);
  fchmod(fd.get(), 0700);
  const int list_fd = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  std::unique_ptr<DIR, int (*)(DIR*)> dir(list_fd < 0 ? nullptr : fdopendir(list_fd), closedir);
  if (dir == nullptr) return ErrnoStatus(errno, "list " + path);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(dir.get())) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      names.emplace_back(entry->d_name);
  }
  dir.reset();
  for (const std::string& child : names) {
    if (unlinkat(fd.get(), child.c_str(), 0) == 0 || errno == ENOENT) continue;
    const std::string child_path = absl::StrCat(path, "/", child);
    if (errno != EISDIR) return ErrnoStatus(errno, "remove " + child_path);
    HYDRANT_RETURN_IF_ERROR(RemoveFolder(fd.get(), child.c_str(), child_path));
  }
  if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
    return ErrnoStatus(errno, "remove " + path);
  return absl::OkStatus();
}

}  // namespace

absl::Status ErrnoStatus(int error_number, std::string_view verb_and_path) {
  return absl::Status(CodeOf(error_number),
                      absl::StrCat(AbslView(verb_and_path), ": ", strerror(error_number)));
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t most) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "open " + path);
  std::string bytes;
  struct stat info {};
  if (fstat(fd.get(), &info) == 0 && info.st_size > 0) bytes.reserve(std::min<size_t>(info.st_size, most));
  char block[64 << 10];
  while (true) {
    const ssize_t n = read(fd.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "read " + path);
    if (n == 0) return bytes;
    if (static_cast<size_t>(n) > most - bytes.size())
      return absl::ResourceExhaustedError(absl::StrCat("read ", path, ": it has more than ", most, " bytes"));
    bytes.append(block, n);
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes, mode_t mode) {
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "create a file beside " + path);
  absl::Status written = [&]() -> absl::Status {
    HYDRANT_RETURN_IF_ERROR(WriteAll(fd.get(), bytes, temporary));
    if (fchmod(fd.get(), mode) != 0) return ErrnoStatus(errno, "chmod " + temporary);
    if (fsync(fd.get()) != 0) return ErrnoStatus(errno, "fsync " + temporary);
    if (rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "rename to " + path);
    return absl::OkStatus();
  }();
  if (!written.ok()) {
    unlink(temporary.c_str());
    return written;
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  UniqueFd folder_fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd.valid() || fsync(folder_fd.get()) != 0) return ErrnoStatus(errno, "fsync " + folder);
  return absl::OkStatus();
}

absl::Status MakeDirectories(const std::string& path, mode_t mode) {
  if (path.empty()) return absl::InvalidArgumentError("make a folder: the path is empty");
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string prefix = path.substr(0, slash);
    struct stat info {};
    if (mkdir(prefix.c_str(), mode) != 0) {
      const int error_number = errno;
      if (stat(prefix.c_str(), &info) != 0) return ErrnoStatus(error_number, "make folder " + prefix);
      if (!S_ISDIR(info.st_mode))
        return ErrnoStatus(ENOTDIR, absl::StrCat("make folder ", path, ": ", prefix));
    }
    if (slash == std::string::npos) return absl::OkStatus();
  }
}

absl::Status RemoveTree(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(errno, "remove " + path);
  }
  if (S_ISDIR(info.st_mode)) return RemoveFolder(AT_FDCWD, path.c_str(), path);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "remove " + path);
  return absl::OkStatus();
}

bool FileExists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

}  // namespace hydrant
