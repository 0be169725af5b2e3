#include "client/commands/inspect_input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "lib/base/fd_stream.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/store_path.h"

namespace hydrant::client {
namespace {

// Everything that `source` has. OutOfRange when that is more than `limit` bytes.
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

}  // namespace

std::string PathOnDisk(const std::string& root, const std::string& path) {
  const bool logical = path.starts_with(std::string(nix::kStoreDir) + "/");
  if (root.empty() || !logical) return path;
  return root.substr(0, root.find_last_not_of('/') + 1) + path;
}

std::string WithoutOutputs(const std::string& derivation) {
  const size_t mark = derivation.find_last_of("!^");
  const bool named = mark != std::string::npos && derivation.substr(0, mark).ends_with(".drv");
  return named ? derivation.substr(0, mark) : derivation;
}

absl::StatusOr<std::string> ReadInput(const std::string& path, size_t limit) {
  UniqueFd file;
  int fd = STDIN_FILENO;
  if (path != "-") {
    file.Reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return ErrnoStatus(errno, "read " + path);
    fd = file.get();
  }
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("read ", path, ": expected a file, it is a folder"));
  }
  const std::string name = path == "-" ? "standard input" : path;
  FdSource source(fd, name);
  absl::StatusOr<std::string> text = ReadAll(source, limit);
  return absl::IsOutOfRange(text.status()) ? Annotate(text.status(), "read " + name) : std::move(text);
}

absl::Status ExpectPipedInput(const std::string& example) {
  if (isatty(STDIN_FILENO) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("standard input is a terminal: ", example));
}

absl::Status Malformed(const std::string& path, const absl::Status& status) {
  return absl::DataLossError(absl::StrCat(path, ": ", status.message()));
}

}  // namespace hydrant::client
