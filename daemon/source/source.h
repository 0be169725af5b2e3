// Makes an immutable tree of what a matrix names as its source: the revision of an evaluation. Knows nothing
// of what is in it.
#ifndef HYDRANT_DAEMON_SOURCE_SOURCE_H_
#define HYDRANT_DAEMON_SOURCE_SOURCE_H_

#include <atomic>
#include <string>

#include "absl/status/statusor.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

struct Tree {
  std::string path;      // where it can be read; does not change while its root is kept
  std::string revision;  // the commit, or for a path the tree hash (sha256 of its NAR, base32)
};

// Which of a git source's trees: with neither the head of its default branch. A path has one tree only.
struct SourcePoint {
  std::string branch;    // its head
  std::string revision;  // a branch, a tag or a commit; goes before `branch`
};

// Not to be taken for hydrant::Source of lib/base/stream.h, where bytes come from.
class TreeSource {
 public:
  virtual ~TreeSource() = default;
  // NotFound when the path, the repository, the branch or the commit is not there, PermissionDenied,
  // Unavailable when a remote does not answer, ResourceExhausted (disk, size), Unimplemented for a kind that
  // this source does not serve, InvalidArgument when it is no folder, no address, or a point of a path.
  // `root`: a name (no slash) under which the tree is kept from garbage collection until Release; taken again
  // it keeps the new tree too. Cancelled soon after `cancelled` becomes true where a remote is waited for.
  // Any thread.
  virtual absl::StatusOr<Tree> Snapshot(const SourceSpec& spec, const SourcePoint& point,
                                        const std::string& root, const std::atomic<bool>& cancelled) = 0;
  // Nothing when there is no such root.
  virtual void Release(const std::string& root) = 0;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_SOURCE_H_
