#include "daemon/source/tree_stamp.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"

namespace hydrant {
namespace {

int ByName(const FTSENT** a, const FTSENT** b) { return strcmp((*a)->fts_name, (*b)->fts_name); }

void Add(const FTSENT& entry, std::string& line) {
  const struct stat& s = *entry.fts_statp;
  line.assign(entry.fts_name, entry.fts_namelen);
  // The level says where a folder ends.
  absl::StrAppend(&line, absl::string_view("\0", 1), entry.fts_level, " ", s.st_dev, " ", s.st_ino, " ",
                  s.st_mode, " ", s.st_size, " ", s.st_mtim.tv_sec, ".", s.st_mtim.tv_nsec, " ",
                  s.st_ctim.tv_sec, ".", s.st_ctim.tv_nsec, "\n");
}

}  // namespace

absl::StatusOr<TreeStamp> StampOf(const std::string& folder) {
  std::string root = folder, line;
  char* roots[] = {root.data(), nullptr};
  const std::unique_ptr<FTS, int (*)(FTS*)> walk(fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, ByName),
                                                 fts_close);
  if (walk == nullptr) return ErrnoStatus(errno, "read " + folder);
  nix::Sha256 hash;
  TreeStamp stamp;
  while (const FTSENT* entry = (errno = 0, fts_read(walk.get()))) {
    if (entry->fts_info == FTS_DP) continue;
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
      return ErrnoStatus(entry->fts_errno, absl::StrCat("read ", entry->fts_path));
    if (entry->fts_level > 0 && strcmp(entry->fts_name, ".git") == 0) {
      fts_set(walk.get(), const_cast<FTSENT*>(entry), FTS_SKIP);
      continue;
    }
    Add(*entry, line);
    HYDRANT_RETURN_IF_ERROR(hash.Write(line));
    stamp.newest_change = std::max(stamp.newest_change, absl::TimeFromTimespec(entry->fts_statp->st_ctim));
  }
  if (errno != 0) return ErrnoStatus(errno, "read " + folder);
  stamp.digest = hash.Finish().ToBase32();
  return stamp;
}

}  // namespace hydrant
