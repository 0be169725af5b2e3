// A commit of a git repository becomes a path of the daemon's Nix store: fetched shallow into a copy of its
// own, once for all who want it, and stored as Nix's own fetchGit would, without ".git".
#ifndef HYDRANT_DAEMON_SOURCE_GIT_SOURCE_H_
#define HYDRANT_DAEMON_SOURCE_GIT_SOURCE_H_

#include <memory>
#include <string>

#include "daemon/source/git_command.h"
#include "daemon/source/git_repository.h"
#include "daemon/source/source.h"
#include "daemon/source/tree_store.h"

namespace hydrant {

class GitSource final : public TreeSource {
 public:
  struct Options {
    nix::CommandSettings nix;
    std::string folder;  // of the copies, one a repository; private
    GitCommand::Options git;
  };
  explicit GitSource(Options options);

  absl::StatusOr<Tree> Snapshot(const SourceSpec& spec, const SourcePoint& point, const std::string& root,
                                const std::atomic<bool>& cancelled) override;
  void Release(const std::string& root) override;

 private:
  absl::StatusOr<StoredTree> Store(GitRepository& repository, const std::string& commit,
                                   const std::string& root) const;

  const std::string folder_;
  const GitCommand git_;
  const TreeStore store_;
};

// Serves git and paths, each by its own source.
class SourceOfEitherKind final : public TreeSource {
 public:
  SourceOfEitherKind(TreeSource& path, TreeSource& git) : path_(path), git_(git) {}
  absl::StatusOr<Tree> Snapshot(const SourceSpec& spec, const SourcePoint& point, const std::string& root,
                                const std::atomic<bool>& cancelled) override {
    return (spec.git.empty() ? path_ : git_).Snapshot(spec, point, root, cancelled);
  }
  void Release(const std::string& root) override {
    path_.Release(root);
    git_.Release(root);
  }

 private:
  TreeSource& path_;
  TreeSource& git_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_GIT_SOURCE_H_
