#include "daemon/evaluate/gc_roots.h"

#include <errno.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

bool IsPlainName(const std::string& root) {
  return !root.empty() && root.find('/') == std::string::npos && root != "." && root != "..";
}

}  // namespace

absl::Status GcRoots::Open(const std::string& root) const {
  if (!IsPlainName(root))
    return absl::InvalidArgumentError(absl::StrCat("root '", root, "' is no plain file name"));
  const absl::Status made = MakeDirectories(Folder(root));
  if (!absl::IsPermissionDenied(made)) return Annotate(made, "keep derivations from garbage collection");
  return absl::PermissionDeniedError(
      absl::StrCat("keep derivations from garbage collection: ", made.message(),
                   "; hydrantd must be able to write there, or have a store of its own ([nix] store)"));
}

absl::Status GcRoots::Keep(const std::string& root, std::string_view path) const {
  const std::string link = absl::StrCat(Folder(root), "/", AbslView(path.substr(path.rfind('/') + 1)));
  if (symlink(std::string(path).c_str(), link.c_str()) == 0 || errno == EEXIST) return absl::OkStatus();
  return ErrnoStatus(errno, "keep derivations from garbage collection: make " + link);
}

void GcRoots::Release(const std::string& root) const {
  if (IsPlainName(root)) RemoveTree(Folder(root)).IgnoreError();
}

std::string GcRoots::Folder(const std::string& root) const {
  return absl::StrCat(store_root_, "/nix/var/nix/gcroots/hydrant/", root);
}

}  // namespace hydrant
