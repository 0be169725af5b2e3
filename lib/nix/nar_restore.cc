#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

// Makes each node relative to the descriptor of its folder, never through a symlink.
class Restorer final : public NarVisitor {
 public:
  explicit Restorer(const std::string& destination) : path_{destination} {}

  absl::Status BeginDirectory() override {
    if (mkdirat(Parent(), Name(), 0755) != 0) return Failed("make folder");
    UniqueFd fd(openat(Parent(), Name(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid()) return Failed("open folder");
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

  absl::Status BeginFile(bool executable, uint64_t, uint64_t) override {
    file_.Reset(openat(Parent(), Name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       executable ? 0755 : 0644));
    return file_.valid() ? absl::OkStatus() : Failed("create");
  }

  absl::Status FileContents(std::string_view bytes) override {
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

  std::vector<std::string> path_;
  std::vector<UniqueFd> folders_;
  UniqueFd file_;
};

}  // namespace

absl::Status RestorePath(Source& source, const std::string& destination) {
  Restorer restorer(destination);
  NarParser parser(restorer);
  std::vector<char> block(256 << 10);
  while (true) {
    HYDRANT_ASSIGN_OR_RETURN(const size_t n, source.Read(block));
    if (n == 0) break;
    HYDRANT_ASSIGN_OR_RETURN(const size_t consumed, parser.Consume({block.data(), n}));
    if (consumed < n) {
      return absl::InvalidArgumentError(
          absl::StrCat("NAR byte ", parser.offset(), ": expected the end of the archive, more bytes follow"));
    }
  }
  if (parser.done()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("NAR byte ", parser.offset(), ": the archive ends too early"));
}

}  // namespace hydrant::nix
