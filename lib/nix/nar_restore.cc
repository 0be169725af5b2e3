#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_parser.h"

namespace hydrant::nix {
namespace {

// From here on a file's space is reserved before it is written, this much at a time: a full disk is noticed
// early, and a size that is only claimed reserves little.
constexpr uint64_t kReserve = 64 << 20, kReserveFrom = 1 << 20;

// Makes each node relative to the descriptor of its folder, never through a symlink.
class Restorer final : public NarVisitor {
 public:
  explicit Restorer(const std::string& destination) : path_{destination} {}

  absl::Status BeginDirectory() override {
    if (mkdirat(Parent(), Name(), 0755) != 0) return Failed("make folder");
    UniqueFd fd(openat(Parent(), Name(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid()) return Failed("open folder");
    HYDRANT_RETURN_IF_ERROR(SetMode(fd.get(), 0755));
    folders_.push_back(std::move(fd));
    return absl::OkStatus();
  }

  absl::Status EnterEntry(std::string_view name) override {
    path_.emplace_back(name);
    return absl::OkStatus();
  }

  absl::Status LeaveEntry() override {
    path_.pop_back();
    return absl::OkStatus();
  }

  absl::Status EndDirectory() override {
    folders_.pop_back();
    return absl::OkStatus();
  }

  absl::Status BeginFile(bool executable, uint64_t size, uint64_t) override {
    const mode_t mode = executable ? 0755 : 0644;
    file_.Reset(openat(Parent(), Name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file_.valid()) return Failed("create");
    size_ = size;
    written_ = 0;
    reserved_ = size < kReserveFrom ? size : 0;
    return SetMode(file_.get(), mode);
  }

  absl::Status FileContents(std::string_view bytes) override {
    if (written_ + bytes.size() > reserved_) HYDRANT_RETURN_IF_ERROR(Reserve());
    written_ += bytes.size();
    while (!bytes.empty()) {
      const ssize_t n = write(file_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failed("write");
      bytes.remove_prefix(n);
    }
    return absl::OkStatus();
  }

  absl::Status EndFile() override {
    // close() may be the one to report a full disk.
    return close(file_.Release()) == 0 ? absl::OkStatus() : Failed("write");
  }

  absl::Status Symlink(std::string_view target) override {
    return symlinkat(std::string(target).c_str(), Parent(), Name()) == 0 ? absl::OkStatus()
                                                                         : Failed("make symlink");
  }

 private:
  int Parent() const { return folders_.empty() ? AT_FDCWD : folders_.back().get(); }
  const char* Name() const { return path_.back().c_str(); }

  absl::Status Failed(std::string_view verb) const {
    return ErrnoStatus(errno, absl::StrCat(AbslView(verb), " ", absl::StrJoin(path_, "/")));
  }

  // Whatever the umask and the folder's default ACL made of it.
  absl::Status SetMode(int fd, mode_t mode) const {
    struct stat info {};
    if (fstat(fd, &info) != 0) return Failed("read");
    if ((info.st_mode & 07777) == mode || fchmod(fd, mode) == 0) return absl::OkStatus();
    return Failed("set the mode of");
  }

  absl::Status Reserve() {
    const uint64_t more = std::min(kReserve, size_ - reserved_);
    if (fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(reserved_),
                  static_cast<off_t>(more)) == 0) {
      reserved_ += more;
      return absl::OkStatus();
    }
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) return Failed("write");
    reserved_ = size_;  // this file system does not reserve
    return absl::OkStatus();
  }

  std::vector<std::string> path_;
  std::vector<UniqueFd> folders_;
  UniqueFd file_;
  uint64_t size_ = 0, written_ = 0, reserved_ = 0;  // of the open file
};

}  // namespace

absl::Status RestorePath(Source& source, const std::string& destination) {
  Restorer restorer(destination);
  return ParseNar(source, restorer);
}

}  // namespace hydrant::nix
