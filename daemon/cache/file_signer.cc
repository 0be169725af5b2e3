#include "daemon/cache/file_signer.h"

#include <errno.h>
#include <sys/stat.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant {

absl::StatusOr<std::unique_ptr<FileSigner>> FileSigner::Open(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return ErrnoStatus(errno, absl::StrCat("read signing key ", path));
    return absl::NotFoundError(
        absl::StrCat("read signing key ", path,
                     ": there is no such file; `hydrantd init DIR` makes a key, a config and a token"));
  }
  if ((info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("signing key %s has mode %04o: others may read it; chmod 600 it, and replace the key "
                        "if somebody could",
                        path, info.st_mode & 07777));
  }
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<nix::SecretKey> key = nix::SecretKey::Parse(StdView(absl::StripAsciiWhitespace(text)));
  if (!key.ok()) return Annotate(key.status(), absl::StrCat("signing key ", path));
  return std::unique_ptr<FileSigner>(new FileSigner(*std::move(key)));
}

absl::StatusOr<std::unique_ptr<FileSigner>> FileSigner::OpenOrGenerate(const std::string& path,
                                                                       std::string_view name) {
  if (!FileExists(path)) {
    HYDRANT_RETURN_IF_ERROR(
        WriteFileAtomically(path, nix::SecretKey::Generate(name).ToString() + "\n", 0600));
  }
  return Open(path);
}

}  // namespace hydrant
