#include "daemon/source/path_source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/failure/classify.h"

namespace hydrant {
namespace {

// Every tree has the same name, so that its path tells of its contents alone.
constexpr char kName[] = "source";

absl::Status CheckRootName(const std::string& root) {
  if (!root.empty() && root.find('/') == std::string::npos && root != "." && root != "..")
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("root '", root, "' is no plain file name"));
}

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

absl::Status CommandError(const std::string& command, const std::string& err) {
  const std::string message = absl::StrCat(command, ": ", ClassifyEvaluation(err).message);
  if (absl::StrContains(err, "Permission denied")) return absl::PermissionDeniedError(message);
  if (absl::StrContains(err, "has an unsupported type")) return absl::InvalidArgumentError(message);
  if (absl::StrContains(err, "No space left")) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

}  // namespace

absl::StatusOr<std::string> PathSource::Nix(std::vector<std::string> argv) const {
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

absl::StatusOr<Tree> PathSource::AddAndKeep(const std::string& path, const std::string& folder) const {
  HYDRANT_ASSIGN_OR_RETURN(const std::string stored,
                           Nix({"nix", "store", "add-path", "--name", kName, path}));
  const std::string link = absl::StrCat(folder, "/", stored.substr(stored.rfind('/') + 1));
  if (symlink(stored.c_str(), link.c_str()) != 0 && errno != EEXIST)
    return ErrnoStatus(errno, "make " + link);
  HYDRANT_ASSIGN_OR_RETURN(const std::string hash, Nix({"nix-store", "--query", "--hash", stored}));
  return Tree{settings_.store_root + stored, std::string(absl::StripPrefix(hash, "sha256:"))};
}

absl::StatusOr<Tree> PathSource::Snapshot(const SourceSpec& spec, const std::string& root) {
  if (!spec.git.empty()) {
    return absl::UnimplementedError(absl::StrCat("[source] git = \"", spec.git,
                                                 "\": git sources are not served by this version; use path"));
  }
  HYDRANT_RETURN_IF_ERROR(CheckRootName(root));
  HYDRANT_ASSIGN_OR_RETURN(const std::string path, RealFolder(spec.path));
  const std::string folder = RootFolder(root);
  HYDRANT_RETURN_IF_ERROR(MakeDirectories(folder));
  absl::StatusOr<Tree> tree = AddAndKeep(path, folder);
  // Between its adding and its root a garbage collection may have taken it: the root keeps it the second
  // time.
  if (absl::IsInternal(tree.status())) tree = AddAndKeep(path, folder);
  return tree;
}

void PathSource::Release(const std::string& root) {
  if (CheckRootName(root).ok()) RemoveTree(RootFolder(root)).IgnoreError();
}

// A real directory: Nix follows no link from its roots to a folder elsewhere.
std::string PathSource::RootFolder(const std::string& root) const {
  return absl::StrCat(settings_.store_root, "/nix/var/nix/gcroots/hydrant-sources/", root);
}

}  // namespace hydrant
