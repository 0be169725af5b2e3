#include "daemon/source/path_source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kMaxKnown = 256;
// A change that is younger may be followed by one that has the same time: far above a kernel's tick, and what
// file systems with coarse times (ext3, FAT) round to.
constexpr absl::Duration kSettled = absl::Seconds(3);

// Where links lead to, since Nix would keep a link as a link.
absl::StatusOr<std::string> RealFolder(const std::string& path) {
  char real[PATH_MAX];
  if (realpath(path.c_str(), real) == nullptr) return ErrnoStatus(errno, absl::StrCat("source path ", path));
  struct stat status;
  if (stat(real, &status) != 0) return ErrnoStatus(errno, absl::StrCat("source path ", path));
  if (!S_ISDIR(status.st_mode))
    return absl::InvalidArgumentError(absl::StrCat("source path ", path, ": not a folder"));
  return real;
}

}  // namespace

absl::StatusOr<Tree> PathSource::Snapshot(const SourceSpec& spec, const SourcePoint& point,
                                          const std::string& root, const std::atomic<bool>&) {
  if (!spec.git.empty())
    return absl::UnimplementedError(absl::StrCat("git source ", spec.git, ": this source serves paths only"));
  HYDRANT_RETURN_IF_ERROR(CheckRootName(root));
  if (!point.branch.empty() || !point.revision.empty()) {
    const std::string& asked = point.revision.empty() ? point.branch : point.revision;
    return absl::InvalidArgumentError(absl::StrCat("source path ", spec.path,
                                                   ": a path has no branches and no revisions, so '", asked,
                                                   "' cannot be had; [source] git has them"));
  }
  HYDRANT_ASSIGN_OR_RETURN(const std::string path, RealFolder(spec.path));
  const absl::Time now = clock_.Now();
  HYDRANT_ASSIGN_OR_RETURN(TreeStamp stamp, StampOf(path));
  if (const std::optional<std::string> stored = StoredAs(path, stamp)) {
    absl::StatusOr<StoredTree> kept = store_.Keep(*stored, root);
    if (kept.ok()) return Tree{.path = std::move(kept->path), .revision = std::move(kept->hash)};
  }
  HYDRANT_ASSIGN_OR_RETURN(StoredTree tree, store_.Add(path, root));
  const absl::StatusOr<TreeStamp> after = StampOf(path);
  if (after.ok() && *after == stamp && stamp.newest_change + kSettled < now)
    Remember(path, {.stamp = std::move(stamp), .store_path = tree.store_path});
  return Tree{.path = std::move(tree.path), .revision = std::move(tree.hash)};
}

std::optional<std::string> PathSource::StoredAs(const std::string& folder, const TreeStamp& stamp) const {
  MutexLock lock(mu_);
  const auto known = known_.find(folder);
  if (known == known_.end() || !(known->second.stamp == stamp)) return std::nullopt;
  return known->second.store_path;
}

void PathSource::Remember(const std::string& folder, Known known) {
  MutexLock lock(mu_);
  if (known_.size() >= kMaxKnown) known_.clear();
  known_[folder] = std::move(known);
}

}  // namespace hydrant
