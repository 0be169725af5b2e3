#include "client/commands/inspect_input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "client/fd_stream.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/store_path.h"

namespace hydrant::client {

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
