#include "daemon/evaluate/overlay_files.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// The file's own name, as far as it may be part of a path: errors name it.
std::string PlainName(std::string_view file) {
  constexpr size_t kLongest = 64;
  std::string name(file.substr(file.rfind('/') + 1));
  if (name.size() > kLongest) name.erase(0, name.size() - kLongest);
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '_' && c != '-') c = '_';
  }
  return name;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> WriteOverlays(const std::vector<Overlay>& overlays,
                                                       const std::string& folder) {
  std::vector<std::string> paths;
  for (const Overlay& overlay : overlays) {
    // In a folder of its own, since two may have one name.
    const std::string own = absl::StrCat(folder, "/", paths.size());
    HYDRANT_RETURN_IF_ERROR(MakeDirectories(own, 0700));
    paths.push_back(absl::StrCat(own, "/", PlainName(overlay.file)));
    HYDRANT_RETURN_IF_ERROR(WriteFileAtomically(paths.back(), overlay.text));
  }
  return paths;
}

}  // namespace hydrant
