#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_parser.h"

namespace hydrant::nix {
namespace {

// Small enough for a core's second-level cache: the sink reads what was just written.
constexpr size_t kBlock = 256 << 10;
constexpr size_t kListBlock = 64 << 10;
constexpr uint64_t kLarge = 1 << 20;  // from here on the kernel is told that the file is read in order

constexpr size_t PaddingOf(uint64_t length) { return (8 - length % 8) % 8; }

// The archive's tokens of `words`, in one piece: most of an archive's structure is the same few sequences.
std::string Sequence(std::initializer_list<std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(uint64_t{word.size()} >> (8 * i));
    out.append(word).append(PaddingOf(word.size()), '\0');
  }
  return out;
}

// The names in one folder, in the archive's order.
class FolderNames {
 public:
  // d_type of readdir: DT_UNKNOWN where the file system does not tell.
  struct Name {
    uint32_t offset;
    uint16_t length;
    unsigned char type;
  };

  absl::Status Read(int fd, const std::string& path, std::vector<char>& block) {
    while (true) {
      const ssize_t n = getdents64(fd, block.data(), block.size());
      if (n < 0) return ErrnoStatus(errno, "list " + path);
      if (n == 0) break;
      for (ssize_t at = 0; at < n;) {
        const auto* entry = reinterpret_cast<const dirent64*>(block.data() + at);
        at += entry->d_reclen;
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (text_.size() + name.size() >= UINT32_MAX) {
          return absl::ResourceExhaustedError(absl::StrCat("list ", path, ": more than 4 GiB of names"));
        }
        names_.push_back(
            {static_cast<uint32_t>(text_.size()), static_cast<uint16_t>(name.size()), entry->d_type});
        text_.append(name) += '\0';
      }
    }
    std::sort(names_.begin(), names_.end(), [this](Name a, Name b) { return Text(a) < Text(b); });
    return absl::OkStatus();
  }

  const std::vector<Name>& all() const { return names_; }
  // Followed by a NUL.
  std::string_view Text(Name name) const { return {text_.data() + name.offset, name.length}; }

 private:
  std::string text_;
  std::vector<Name> names_;
};

class Dumper {
 public:
  explicit Dumper(Sink& sink) : sink_(sink), block_(kBlock), list_(kListBlock) {}

  absl::Status Dump(const std::string& path) {
    path_ = path;
    HYDRANT_RETURN_IF_ERROR(Put(Sequence({"nix-archive-1"})));
    HYDRANT_RETURN_IF_ERROR(Node(AT_FDCWD, path.c_str(), DT_UNKNOWN, 0));
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

  absl::Status Padding(uint64_t length) { return Put(std::string_view("\0\0\0\0\0\0\0", PaddingOf(length))); }

  absl::Status Token(std::string_view text) {
    HYDRANT_RETURN_IF_ERROR(Number(text.size()));
    HYDRANT_RETURN_IF_ERROR(Put(text));
    return Padding(text.size());
  }

  // `type`: of readdir.
  absl::Status Node(int parent, const char* name, unsigned char type, size_t depth) {
    if (type != DT_REG && type != DT_DIR && type != DT_LNK) {
      struct stat info {};
      if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return ErrnoStatus(errno, "read " + path_);
      type = IFTODT(info.st_mode);
    }
    if (type == DT_REG) return File(parent, name);
    if (type == DT_DIR) return Directory(parent, name, depth);
    if (type == DT_LNK) return Link(parent, name);
    return NoFile();
  }

  absl::Status NoFile() const {
    return absl::InvalidArgumentError(absl::StrCat(
        "archive ", path_, ": expected a file, symlink or folder; it is a socket, device or pipe"));
  }

  absl::Status File(int parent, const char* name) {
    static const std::string kPlain = Sequence({"(", "type", "regular", "contents"});
    static const std::string kExecutable = Sequence({"(", "type", "regular", "executable", "", "contents"});
    // Not blocking: it may have become a pipe since it was listed.
    UniqueFd fd(openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (!fd.valid() || fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, "open " + path_);
    if (!S_ISREG(info.st_mode)) return NoFile();
    const uint64_t size = info.st_size;
    HYDRANT_RETURN_IF_ERROR(Put((info.st_mode & S_IXUSR) != 0 ? kExecutable : kPlain));
    HYDRANT_RETURN_IF_ERROR(Number(size));
    HYDRANT_RETURN_IF_ERROR(Contents(fd.get(), size));
    HYDRANT_RETURN_IF_ERROR(Padding(size));
    return Put(kClose);
  }

  // Always asks for one byte more than the file should have: so a file that grew is noticed without a call
  // more.
  absl::Status Contents(int fd, uint64_t size) {
    if (size >= kLarge) posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (block_.size() - used_ <= size) HYDRANT_RETURN_IF_ERROR(Flush());
    for (uint64_t left = size;;) {
      if (used_ == block_.size()) HYDRANT_RETURN_IF_ERROR(Flush());
      const size_t most = static_cast<size_t>(std::min<uint64_t>(left + 1, block_.size() - used_));
      const ssize_t n = read(fd, block_.data() + used_, most);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, "read " + path_);
      if (static_cast<uint64_t>(n) > left) return Changed("longer");
      used_ += n;
      left -= n;
      if (n == 0 && left > 0) return Changed("shorter");
      // A short read at the end is the end; else the next call tells.
      if (left == 0 && static_cast<size_t>(n) < most) return absl::OkStatus();
    }
  }

  absl::Status Changed(std::string_view how) const {
    return absl::AbortedError(
        absl::StrCat("archive ", path_, ": the file became ", AbslView(how), " meanwhile"));
  }

  absl::Status Link(int parent, const char* name) {
    static const std::string kSymlink = Sequence({"(", "type", "symlink", "target"});
    char target[kNarMaxTarget + 1];
    const ssize_t n = readlinkat(parent, name, target, sizeof target);
    if (n < 0) return ErrnoStatus(errno, "read symlink " + path_);
    if (static_cast<size_t>(n) > kNarMaxTarget) {
      return absl::InvalidArgumentError(
          absl::StrCat("archive ", path_, ": the symlink's target is too long"));
    }
    HYDRANT_RETURN_IF_ERROR(Put(kSymlink));
    HYDRANT_RETURN_IF_ERROR(Token({target, static_cast<size_t>(n)}));
    return Put(kClose);
  }

  absl::Status Directory(int parent, const char* name, size_t depth) {
    static const std::string kDirectory = Sequence({"(", "type", "directory"});
    static const std::string kEntry = Sequence({"entry", "(", "name"}), kNode = Sequence({"node"});
    if (depth >= kNarMaxDepth) {
      return absl::InvalidArgumentError(
          absl::StrCat("archive ", path_, ": folders are nested deeper than ", kNarMaxDepth));
    }
    UniqueFd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid()) return ErrnoStatus(errno, "open " + path_);
    FolderNames names;
    HYDRANT_RETURN_IF_ERROR(names.Read(fd.get(), path_, list_));
    HYDRANT_RETURN_IF_ERROR(Put(kDirectory));
    const size_t length = path_.size();
    for (const FolderNames::Name child : names.all()) {
      const std::string_view text = names.Text(child);
      path_.append("/").append(text);
      HYDRANT_RETURN_IF_ERROR(Put(kEntry));
      HYDRANT_RETURN_IF_ERROR(Token(text));
      HYDRANT_RETURN_IF_ERROR(Put(kNode));
      HYDRANT_RETURN_IF_ERROR(Node(fd.get(), text.data(), child.type, depth + 1));
      HYDRANT_RETURN_IF_ERROR(Put(kClose));
      path_.resize(length);
    }
    return Put(kClose);
  }

  Sink& sink_;
  const std::string kClose = Sequence({")"});
  std::vector<char> block_, list_;
  size_t used_ = 0;
  std::string path_;  // of the node at hand, for errors
};

}  // namespace

absl::Status DumpPath(const std::string& path, Sink& sink) { return Dumper(sink).Dump(path); }

}  // namespace hydrant::nix
