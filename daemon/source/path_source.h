// A folder of this machine becomes a path of the daemon's Nix store. Knows nothing of git, but that what is
// called ".git" is no part of a tree.
#ifndef HYDRANT_DAEMON_SOURCE_PATH_SOURCE_H_
#define HYDRANT_DAEMON_SOURCE_PATH_SOURCE_H_

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "daemon/source/source.h"
#include "daemon/source/tree_stamp.h"
#include "daemon/source/tree_store.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace hydrant {

class PathSource final : public TreeSource {
 public:
  PathSource(nix::CommandSettings settings, const Clock& clock)
      : store_(std::move(settings)), clock_(clock) {}

  // FailedPrecondition when there is no Nix. A folder in which nothing changed since it was stored is not
  // read again.
  absl::StatusOr<Tree> Snapshot(const SourceSpec& spec, const SourcePoint& point, const std::string& root,
                                const std::atomic<bool>&) override;
  void Release(const std::string& root) override { store_.Release(root); }

 private:
  struct Known {
    TreeStamp stamp;
    std::string store_path;
  };
  std::optional<std::string> StoredAs(const std::string& folder, const TreeStamp& stamp) const;
  void Remember(const std::string& folder, Known known);

  const TreeStore store_;
  const Clock& clock_;
  mutable Mutex mu_;
  std::map<std::string, Known> known_ ABSL_GUARDED_BY(mu_);  // by folder
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_PATH_SOURCE_H_
