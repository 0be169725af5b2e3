#include "client/format/inspect_closure.h"

#include <stdlib.h>

#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/commands/inspect.h"
#include "client/commands/inspect_input.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/output_paths.h"
#include "lib/nix/store_path.h"

namespace hydrant::client {
namespace {

// "/nix/store/…" of a path on this machine's disk that leads into the store at `root`, such as a garbage
// collector's root; `path` itself when it leads elsewhere.
std::string LogicalPath(const std::string& root, const std::string& path) {
  if (path.starts_with(nix::kStoreDir)) return path;
  const auto real = [](const std::string& name) {
    const std::unique_ptr<char, void (*)(void*)> found(realpath(name.c_str(), nullptr), free);
    return found ? std::string(found.get()) : std::string();
  };
  const std::string file = real(path);
  const std::string below = root.empty() ? "" : real(root);
  const bool inside = file.starts_with(absl::StrCat(below, AbslView(nix::kStoreDir), "/"));
  return inside ? file.substr(below.size()) : path;
}

absl::StatusOr<std::string> RootPath(const InspectClosureOptions& options, const std::string& derivation) {
  const std::string path = LogicalPath(options.store, WithoutOutputs(derivation));
  const absl::StatusOr<nix::StorePath> parsed = nix::StorePath::Parse(path);
  if (!parsed.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", parsed.status().message()));
  if (!parsed->is_derivation())
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected a path that ends in .drv"));
  const std::string file = PathOnDisk(options.store, path);
  if (!FileExists(file))
    return absl::NotFoundError(absl::StrCat("read ", file, ": there is no such derivation"));
  return path;
}

}  // namespace

absl::StatusOr<Exit> InspectClosure(const InspectClosureOptions& options, Session& session) {
  std::vector<std::string> roots;
  for (const std::string& derivation : options.derivations) {
    HYDRANT_ASSIGN_OR_RETURN(std::string path, RootPath(options, derivation));
    roots.push_back(std::move(path));
  }
  HYDRANT_ASSIGN_OR_RETURN(const auto loader, nix::ClosureLoader::Open({.store_root = options.store}));
  const absl::StatusOr<nix::Closure> closure = loader->Load(roots);
  if (!closure.ok()) return absl::DataLossError(closure.status().message());
  if (options.verify) {
    const absl::Status wrong = nix::VerifyOutputPaths(*closure, options.store);
    if (!wrong.ok()) return absl::DataLossError(wrong.message());
    return Exit::kOk;
  }
  session.Print({.table = [&] { return FormatClosure(*closure, session.screen()); },
                 .json = [&](JsonLayout layout) { return ClosureJson(*closure, layout); }});
  return Exit::kOk;
}

}  // namespace hydrant::client
