// A TreeSource without Nix: trees are files in a folder of its own, copied at each snapshot.
#ifndef HYDRANT_TESTS_FAKES_MEMORY_SOURCE_H_
#define HYDRANT_TESTS_FAKES_MEMORY_SOURCE_H_

#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/source/source.h"
#include "lib/base/file.h"
#include "lib/base/mutex.h"
#include "lib/base/test_dir.h"
#include "lib/nix/hash.h"
#include "lib/nix/nar.h"

namespace hydrant {

class MemorySource final : public TreeSource {
 public:
  absl::StatusOr<Tree> Snapshot(const SourceSpec& spec, const SourcePoint& point,
                                const std::string& root, const std::atomic<bool>&) override {
    namespace fs = std::filesystem;
    if (!spec.git.empty())
      return absl::UnimplementedError(
          absl::StrCat("git source ", spec.git, ": this source serves paths only"));
    if (!point.branch.empty() || !point.revision.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("source path: no branches, so '", point.branch, point.revision, "' cannot be had"));
    if (root.empty() || root.find('/') != std::string::npos)
      return absl::InvalidArgumentError("root: not a plain name");
    std::error_code error;
    const fs::path path = fs::canonical(spec.path, error);
    if (error) return absl::NotFoundError(absl::StrCat("source path ", spec.path, ": ", error.message()));
    if (!fs::is_directory(path))
      return absl::InvalidArgumentError(absl::StrCat("source path ", spec.path, ": not a folder"));
    const std::string copy = folder_ / absl::StrCat("tree-", [this] {
                               MutexLock lock(mu_);
                               return ++count_;
                             }());
    fs::copy(path, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    RemoveTree(copy + "/.git").IgnoreError();
    nix::Sha256 hash;
    if (absl::Status dumped = nix::DumpPath(copy, hash); !dumped.ok()) return dumped;
    Tree tree{.path = copy, .revision = hash.Finish().ToBase32()};
    MutexLock lock(mu_);
    std::map<std::string, std::string>& kept = roots_[root];
    if (const auto found = kept.find(tree.revision); found != kept.end()) {
      RemoveTree(copy).IgnoreError();
      tree.path = found->second;
      return tree;
    }
    kept[tree.revision] = tree.path;
    return tree;
  }

  void Release(const std::string& root) override {
    MutexLock lock(mu_);
    for (const auto& [revision, path] : roots_[root]) RemoveTree(path).IgnoreError();
    roots_.erase(root);
  }

 private:
  TestDir folder_;
  Mutex mu_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::map<std::string, std::string>> roots_
      ABSL_GUARDED_BY(mu_);  // root -> revision -> path
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_FAKES_MEMORY_SOURCE_H_
