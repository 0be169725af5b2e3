#include "worker/spool_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant::worker {

absl::StatusOr<std::unique_ptr<SpoolFolder>> SpoolFolder::Open(const std::string& path) {
  HYDRANT_RETURN_IF_ERROR(Annotate(MakeDirectories(path), "spool"));
  const std::string file = path + "/lock";
  UniqueFd lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return ErrnoStatus(errno, "open " + file);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("spool ", path, " is in use by another worker: give each a spool of its own"));
  }
  auto folder = std::unique_ptr<SpoolFolder>(new SpoolFolder(path, std::move(lock)));
  HYDRANT_RETURN_IF_ERROR(RemoveTree(folder->scratch()));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(folder->scratch(), 0755));
  return folder;
}

}  // namespace hydrant::worker
