#include "daemon/presence/upstream_access.h"

#include <errno.h>
#include <sys/stat.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, absl::StrCat("read credentials ", path));
  if ((info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "credentials %s have mode %04o: others may read them; chmod 600", path, info.st_mode & 07777));
  }
  return ReadFile(path);
}

}  // namespace

absl::StatusOr<UpstreamAccess> OpenUpstreamAccess(const UpstreamAccessFiles& files) {
  UpstreamAccess access{.netrc_file = files.netrc, .ca_file = files.ca};
  if (!files.netrc.empty()) HYDRANT_RETURN_IF_ERROR(ReadSecret(files.netrc).status());
  if (!files.ca.empty()) HYDRANT_RETURN_IF_ERROR(ReadFile(files.ca).status());
  if (files.credentials.empty()) return access;
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadSecret(files.credentials));
  const std::string line(absl::StripAsciiWhitespace(text));
  const size_t colon = line.find(':');
  if (colon == std::string::npos || colon == 0 || line.find('\n') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("credentials ", files.credentials, ": expected one line, user:password"));
  }
  access.user = line.substr(0, colon);
  access.password = line.substr(colon + 1);
  return access;
}

}  // namespace hydrant
