// Tells whether a folder is as it was: names, kinds, modes, sizes, inodes and times of change of all that is
// in it. Reads no file.
#ifndef HYDRANT_DAEMON_SOURCE_TREE_STAMP_H_
#define HYDRANT_DAEMON_SOURCE_TREE_STAMP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hydrant {

struct TreeStamp {
  std::string digest;
  // The kernel gives the same time to what happens within its tick (10 ms at most): a stamp as new as this
  // one's tree tells nothing about a change right after it.
  absl::Time newest_change = absl::InfinitePast();

  bool operator==(const TreeStamp&) const = default;
};

// Of a folder without what is called ".git". PermissionDenied, NotFound or Internal for what cannot be looked
// at.
absl::StatusOr<TreeStamp> StampOf(const std::string& folder);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_TREE_STAMP_H_
