// Folders become paths of a Nix store, kept from its garbage collection under names. Every tree has the same
// name there, so that its path tells of its contents alone.
#ifndef HYDRANT_DAEMON_SOURCE_TREE_STORE_H_
#define HYDRANT_DAEMON_SOURCE_TREE_STORE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/nix/command_environment.h"

namespace hydrant {

struct StoredTree {
  std::string path;        // where it can be read
  std::string store_path;  // /nix/store/…
  std::string hash;        // sha256 of its NAR, base32
};

// A plain file name of letters, digits, '-', '_' and '.': InvalidArgument otherwise.
absl::Status CheckRootName(const std::string& root);

// Any thread. Errors: FailedPrecondition without Nix, PermissionDenied, InvalidArgument for what cannot be
// stored, ResourceExhausted, else Internal.
class TreeStore {
 public:
  explicit TreeStore(nix::CommandSettings settings) : settings_(std::move(settings)) {}

  // All of a folder but what is called ".git", at any depth.
  absl::StatusOr<StoredTree> Add(const std::string& folder, const std::string& root) const;
  // What was added before. NotFound when it is gone.
  absl::StatusOr<StoredTree> Keep(const std::string& store_path, const std::string& root) const;
  // Nothing when there is no such root.
  void Release(const std::string& root) const;

 private:
  absl::StatusOr<std::string> Nix(std::vector<std::string> argv) const;
  absl::StatusOr<StoredTree> AddOnce(const std::string& folder, const std::string& root) const;
  std::string RootFolder(const std::string& root) const;

  const nix::CommandSettings settings_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_TREE_STORE_H_
