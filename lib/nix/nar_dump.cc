#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_parser.h"

namespace hydrant::nix {
namespace {

class Dumper {
 public:
  explicit Dumper(Sink& sink) : sink_(sink), block_(512 << 10) {}

  absl::Status Dump(const std::string& path) {
    HYDRANT_RETURN_IF_ERROR(Token("nix-archive-1"));
    HYDRANT_RETURN_IF_ERROR(Node(AT_FDCWD, path.c_str(), path, 0));
    return Flush();
  }

 private:
  absl::Status Flush() {
    const size_t used = std::exchange(used_, 0);
    return used == 0 ? absl::OkStatus() : sink_.Write({block_.data(), used});
  }

  absl::Status Put(std::string_view bytes) {
    if (block_.size() - used_ < bytes.size()) HYDRANT_RETURN_IF_ERROR(Flush());
    used_ += bytes.copy(block_.data() + used_, bytes.size());
    return absl::OkStatus();
  }

  absl::Status Number(uint64_t n) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(n >> (8 * i));
    return Put({bytes, 8});
  }

  absl::Status Padding(uint64_t length) {
    return Put(std::string_view("\0\0\0\0\0\0\0", (8 - length % 8) % 8));
  }

  absl::Status Token(std::string_view text) {
    HYDRANT_RETURN_IF_ERROR(Number(text.size()));
    HYDRANT_RETURN_IF_ERROR(Put(text));
    return Padding(text.size());
  }

  absl::Status Tokens(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) HYDRANT_RETURN_IF_ERROR(Token(text));
    return absl::OkStatus();
  }

  absl::Status Node(int parent, const char* name, const std::string& path, size_t depth) {
    struct stat info {};
    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return ErrnoStatus(errno, "read " + path);
    HYDRANT_RETURN_IF_ERROR(Tokens({"(", "type"}));
    if (S_ISREG(info.st_mode)) {
      HYDRANT_RETURN_IF_ERROR(File(parent, name, path));
    } else if (S_ISDIR(info.st_mode)) {
      HYDRANT_RETURN_IF_ERROR(Directory(parent, name, path, depth));
    } else if (S_ISLNK(info.st_mode)) {
      HYDRANT_RETURN_IF_ERROR(Link(parent, name, path));
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "archive ", path, ": expected a file, symlink or folder; it is a socket, device or pipe"));
    }
    return Token(")");
  }

  absl::Status File(int parent, const char* name, const std::string& path) {
    UniqueFd fd(openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (!fd.valid() || fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, "open " + path);
    HYDRANT_RETURN_IF_ERROR(Token("regular"));
    if ((info.st_mode & S_IXUSR) != 0) HYDRANT_RETURN_IF_ERROR(Tokens({"executable", ""}));
    HYDRANT_RETURN_IF_ERROR(Token("contents"));
    const uint64_t size = info.st_size;
    HYDRANT_RETURN_IF_ERROR(Number(size));
    for (uint64_t left = size; left > 0;) {
      if (used_ == block_.size()) HYDRANT_RETURN_IF_ERROR(Flush());
      const size_t most = static_cast<size_t>(std::min<uint64_t>(left, block_.size() - used_));
      const ssize_t n = read(fd.get(), block_.data() + used_, most);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, "read " + path);
      if (n == 0)
        return absl::AbortedError(absl::StrCat("archive ", path, ": the file became shorter meanwhile"));
      used_ += n;
      left -= n;
    }
    return Padding(size);
  }

  absl::Status Link(int parent, const char* name, const std::string& path) {
    char target[kNarMaxTarget + 1];
    const ssize_t n = readlinkat(parent, name, target, sizeof target);
    if (n < 0) return ErrnoStatus(errno, "read symlink " + path);
    if (static_cast<size_t>(n) > kNarMaxTarget) {
      return absl::InvalidArgumentError(absl::StrCat("archive ", path, ": the symlink's target is too long"));
    }
    return Tokens({"symlink", "target", {target, static_cast<size_t>(n)}});
  }

  absl::Status Directory(int parent, const char* name, const std::string& path, size_t depth) {
    if (depth >= kNarMaxDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("archive ", path, ": folders are nested deeper than ", kNarMaxDepth));
    }
    UniqueFd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid()) return ErrnoStatus(errno, "open " + path);
    HYDRANT_ASSIGN_OR_RETURN(const std::vector<std::string> names, SortedNames(fd.get(), path));
    HYDRANT_RETURN_IF_ERROR(Token("directory"));
    for (const std::string& child : names) {
      HYDRANT_RETURN_IF_ERROR(Tokens({"entry", "(", "name", child, "node"}));
      HYDRANT_RETURN_IF_ERROR(Node(fd.get(), child.c_str(), absl::StrCat(path, "/", child), depth + 1));
      HYDRANT_RETURN_IF_ERROR(Token(")"));
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<std::vector<std::string>> SortedNames(int fd, const std::string& path) {
    const int list_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    std::unique_ptr<DIR, int (*)(DIR*)> dir(list_fd < 0 ? nullptr : fdopendir(list_fd), closedir);
    if (dir == nullptr) return ErrnoStatus(errno, "list " + path);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(dir.get())) {
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
        names.emplace_back(entry->d_name);
    }
    if (errno != 0) return ErrnoStatus(errno, "list " + path);
    std::sort(names.begin(), names.end());
    return names;
  }

  Sink& sink_;
  std::vector<char> block_;
  size_t used_ = 0;
};

}  // namespace

absl::Status DumpPath(const std::string& path, Sink& sink) { return Dumper(sink).Dump(path); }

}  // namespace hydrant::nix
