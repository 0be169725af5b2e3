#include "daemon/source/git_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

GitCommand::Options WithHome(GitSource::Options& options) {
  GitCommand::Options git = std::move(options.git);
  if (git.home.empty()) git.home = options.folder + "/home";
  return git;
}

}  // namespace

GitSource::GitSource(Options options)
    : folder_(options.folder), git_(WithHome(options)), store_(std::move(options.nix)) {}

absl::StatusOr<StoredTree> GitSource::Store(GitRepository& repository, const std::string& commit,
                                            const std::string& root) const {
  if (const std::string stored = repository.Exported(commit); !stored.empty()) {
    auto kept = store_.Keep(stored, root);
    if (kept.ok() || !absl::IsNotFound(kept.status())) return kept;
  }
  HYDRANT_RETURN_IF_ERROR(repository.Fetch(commit, root));
  HYDRANT_ASSIGN_OR_RETURN(const std::string files, repository.Export(commit));
  absl::StatusOr<StoredTree> tree = store_.Add(files, root);
  RemoveTree(files).IgnoreError();
  if (tree.ok()) HYDRANT_RETURN_IF_ERROR(repository.RememberExported(commit, tree->store_path));
  return tree;
}

absl::StatusOr<Tree> GitSource::Snapshot(const SourceSpec& spec, const SourcePoint& point,
                                         const std::string& root, const std::atomic<bool>& cancelled) {
  if (spec.git.empty())
    return absl::UnimplementedError(absl::StrCat("source path ", spec.path, ": this source serves git only"));
  HYDRANT_RETURN_IF_ERROR(CheckRootName(root));
  HYDRANT_ASSIGN_OR_RETURN(const GitAddress address, ParseGitAddress(spec.git));
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(git_.options().home, 0700));
  const GitCommand git = git_.Until(cancelled);
  HYDRANT_ASSIGN_OR_RETURN(auto repository, GitRepository::Open(folder_, address, git));
  for (bool again = false;; again = true) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string commit, repository->Resolve(point));
    absl::StatusOr<StoredTree> tree = Store(*repository, commit, root);
    if (tree.ok()) return Tree{.path = std::move(tree->path), .revision = commit};
    const bool damaged = absl::IsDataLoss(tree.status());
    // A branch that moved between the question and the fetch may have left its old head behind.
    const bool moved = absl::IsNotFound(tree.status()) && !IsCommit(point.revision);
    if (again || (!damaged && !moved)) return tree.status();
    if (damaged) {
      Log(LogLevel::kWarning, "a copy of a git repository is fetched anew",
          {{"reason", tree.status().ToString()}});
      HYDRANT_RETURN_IF_ERROR(repository->Reset());
    }
  }
}

void GitSource::Release(const std::string& root) {
  store_.Release(root);
  if (CheckRootName(root).ok()) GitRepository::ReleaseEverywhere(folder_, root, git_);
}

}  // namespace hydrant
