#include "daemon/cache/store_import.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"

namespace hydrant {
namespace {

absl::StatusOr<nix::NarInfo> NarInfoFor(const nix::PathInfo& path, const NarIntake::Taken& taken) {
  if (taken.facts.nar_hash != path.nar_hash) {
    return absl::DataLossError(absl::StrCat(path.path, " is damaged in the store: its NarHash is ",
                                            taken.facts.nar_hash.ToNixString(), ", expected ",
                                            path.nar_hash.ToNixString()));
  }
  nix::NarInfo info;
  HYDRANT_ASSIGN_OR_RETURN(info.store_path, nix::StorePath::Parse(path.path));
  HYDRANT_ASSIGN_OR_RETURN(info.compression, nix::CompressionOfExtension(taken.name.extension));
  info.url = absl::StrCat("nar/", taken.name.ToString());
  HYDRANT_ASSIGN_OR_RETURN(info.file_hash, nix::Sha256Digest::Parse(taken.name.file_hash));
  info.file_size = static_cast<uint64_t>(taken.facts.file_size);
  info.nar_hash = taken.facts.nar_hash;
  info.nar_size = static_cast<uint64_t>(taken.facts.nar_size);
  for (const std::string& reference : path.references) {
    HYDRANT_ASSIGN_OR_RETURN(nix::StorePath parsed, nix::StorePath::Parse(reference));
    info.references.push_back(std::move(parsed));
  }
  if (!path.deriver.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(const nix::StorePath deriver, nix::StorePath::Parse(path.deriver));
    info.deriver = std::string(deriver.base_name());
  }
  info.content_address = path.content_address;
  return info;
}

}  // namespace

absl::Status StoreImport::Import(const std::set<std::string>& paths) {
  std::set<std::string> missing;
  for (const std::string& path : paths) {
    if (!publisher_.Holds(path)) missing.insert(path);
  }
  if (missing.empty()) return absl::OkStatus();
  HYDRANT_ASSIGN_OR_RETURN(std::unique_ptr<nix::DaemonClient> daemon, connect_());
  HYDRANT_ASSIGN_OR_RETURN(const std::vector<nix::PathInfo> closure, daemon->QueryClosure(missing));
  for (const nix::PathInfo& path : closure) {
    if (publisher_.Holds(path.path)) continue;
    absl::StatusOr<NarIntake::Taken> taken =
        intake_.Take([&](Sink& nar) { return daemon->NarFromPath(path.path, nar); });
    if (!taken.ok()) return Annotate(taken.status(), absl::StrCat("import ", path.path));
    HYDRANT_ASSIGN_OR_RETURN(const nix::NarInfo info, NarInfoFor(path, *taken));
    HYDRANT_RETURN_IF_ERROR(Annotate(publisher_.Stage(info, AttemptId()), "import"));
  }
  return absl::OkStatus();
}

}  // namespace hydrant
