#include "daemon/source/tree_store.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/base/subprocess.h"
#include "lib/failure/classify.h"

namespace hydrant {
namespace {

constexpr char kAdd[] =
    "{ folder }: builtins.path { name = \"source\"; path = folder; filter = path: type: baseNameOf path != "
    "\".git\"; }";

absl::Status CommandError(const std::string& command, const std::string& err) {
  const std::string message = absl::StrCat(command, ": ", ClassifyEvaluation(err).message);
  if (absl::StrContains(err, "Permission denied")) return absl::PermissionDeniedError(message);
  if (absl::StrContains(err, "has an unsupported type")) return absl::InvalidArgumentError(message);
  if (absl::StrContains(err, "No space left")) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

}  // namespace

absl::Status CheckRootName(const std::string& root) {
  const bool plain = std::all_of(root.begin(), root.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (plain && !root.empty() && root[0] != '.' && root[0] != '-') return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("root '", root, "' is no plain file name"));
}

absl::StatusOr<std::string> TreeStore::Nix(std::vector<std::string> argv) const {
  const std::string command = absl::StrCat(argv[0], " ", argv[1]);
  auto done = Run({.argv = std::move(argv), .env = CommandEnvironment(settings_), .clear_env = true});
  if (absl::IsNotFound(done.status())) {
    return absl::FailedPreconditionError(
        "Nix is not installed: there is no nix in PATH (deploy/install-deps installs it)");
  }
  if (!done.ok()) return done.status();
  if (!done->status.ok()) return CommandError(command, done->err);
  return std::string(absl::StripTrailingAsciiWhitespace(done->out));
}

absl::StatusOr<StoredTree> TreeStore::AddOnce(const std::string& folder, const std::string& root) const {
  HYDRANT_ASSIGN_OR_RETURN(const std::string quoted, Nix({"nix-instantiate", "--eval", "--read-write-mode",
                                                          "--expr", kAdd, "--argstr", "folder", folder}));
  if (quoted.size() < 3 || quoted.front() != '"' || quoted.back() != '"')
    return absl::InternalError(absl::StrCat("nix-instantiate --eval: no store path for ", folder));
  return Keep(quoted.substr(1, quoted.size() - 2), root);
}

absl::StatusOr<StoredTree> TreeStore::Add(const std::string& folder, const std::string& root) const {
  absl::StatusOr<StoredTree> tree = AddOnce(folder, root);
  // Between its adding and its root a garbage collection may have taken it: the root keeps it the second
  // time.
  if (absl::IsInternal(tree.status()) || absl::IsNotFound(tree.status())) tree = AddOnce(folder, root);
  return tree;
}

absl::StatusOr<StoredTree> TreeStore::Keep(const std::string& store_path, const std::string& root) const {
  HYDRANT_RETURN_IF_ERROR(CheckRootName(root));
  const std::string folder = RootFolder(root);
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(folder));
  const std::string link = absl::StrCat(folder, "/", store_path.substr(store_path.rfind('/') + 1));
  if (symlink(store_path.c_str(), link.c_str()) != 0 && errno != EEXIST)
    return ErrnoStatus(errno, "make " + link);
  absl::StatusOr<std::string> hash = Nix({"nix-store", "--query", "--hash", store_path});
  if (absl::IsInternal(hash.status())) return absl::NotFoundError(hash.status().message());
  if (!hash.ok()) return hash.status();
  return StoredTree{.path = settings_.store_root + store_path,
                    .store_path = store_path,
                    .hash = std::string(absl::StripPrefix(*hash, "sha256:"))};
}

void TreeStore::Release(const std::string& root) const {
  if (CheckRootName(root).ok()) RemoveTree(RootFolder(root)).IgnoreError();
}

// A real directory: Nix follows no link from its roots to a folder elsewhere.
std::string TreeStore::RootFolder(const std::string& root) const {
  return absl::StrCat(settings_.store_root, "/nix/var/nix/gcroots/hydrant-sources/", root);
}

}  // namespace hydrant
