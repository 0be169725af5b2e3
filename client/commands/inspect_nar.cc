#include "client/format/inspect_nar.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "client/commands/inspect.h"
#include "client/commands/inspect_input.h"
#include "client/interruptible_source.h"
#include "lib/base/fd_stream.h"
#include "lib/base/file.h"
#include "lib/base/sigpipe_block.h"
#include "lib/base/status_macros.h"
#include "lib/nix/nar.h"
#include "lib/nix/nar_listing.h"
#include "lib/nix/nar_listing_json.h"

namespace hydrant::client {
namespace {

// NotFound and the like when there is nothing at `path`; what goes wrong later is no error of usage.
absl::Status ExpectThere(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "read " + path);
}

absl::Status WorkFailed(const absl::Status& status) {
  return status.ok() ? status : absl::DataLossError(status.message());
}

}  // namespace

absl::StatusOr<Exit> InspectNarDump(const InspectNarOptions& options, Session&) {
  if (isatty(STDOUT_FILENO) == 1) {
    return absl::InvalidArgumentError(
        "an archive is no text for a terminal: hydrant inspect nar dump PATH >FILE");
  }
  const std::string path = PathOnDisk(options.store, options.path);
  HYDRANT_RETURN_IF_ERROR(ExpectThere(path));
  const SigpipeBlock no_sigpipe;  // a reader that went away is an error
  FdSink out(STDOUT_FILENO, "standard output");
  HYDRANT_RETURN_IF_ERROR(WorkFailed(nix::DumpPath(path, out)));
  return Exit::kOk;
}

absl::StatusOr<Exit> InspectNarRestore(const InspectNarOptions& options, Session&) {
  HYDRANT_RETURN_IF_ERROR(ExpectPipedInput("hydrant inspect nar restore DEST <FILE"));
  struct stat info {};
  if (lstat(options.path.c_str(), &info) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("restore ", options.path, ": expected a path where nothing is yet"));
  }
  InterruptibleSource in(STDIN_FILENO, "standard input");
  const absl::Status restored = nix::RestorePath(in, options.path);
  if (restored.ok()) return Exit::kOk;
  if (absl::IsNotFound(restored)) return restored;  // its folder
  // Somebody else's when it came between the look and the making.
  const absl::Status removed = absl::IsAlreadyExists(restored) ? absl::OkStatus() : RemoveTree(options.path);
  const std::string left = removed.ok() ? "" : absl::StrCat("; what was made is left: ", removed.message());
  return absl::DataLossError(absl::StrCat("restore ", options.path, ": ", restored.message(), left));
}

absl::StatusOr<Exit> InspectNarList(Session& session) {
  HYDRANT_RETURN_IF_ERROR(ExpectPipedInput("hydrant inspect nar list <FILE"));
  FdSource in(STDIN_FILENO, "standard input");
  const absl::StatusOr<nix::NarListing> listing = nix::ListNar(in);
  if (!listing.ok()) return Malformed("standard input", listing.status());
  if (session.form() == OutputForm::kJson) {
    const absl::StatusOr<std::string> json = nix::PrintListingJson(*listing);
    if (!json.ok()) return Malformed("standard input", json.status());
    session.console().Out(*json + "\n");
  } else {
    session.PrintTable(ListingTable(*listing), [&](JsonLayout) { return ListingLines(*listing); });
  }
  return Exit::kOk;
}

absl::StatusOr<Exit> InspectNarHash(const InspectNarOptions& options, Session& session) {
  const std::string path = PathOnDisk(options.store, options.path);
  HYDRANT_RETURN_IF_ERROR(ExpectThere(path));
  nix::Sha256 hash;
  HYDRANT_RETURN_IF_ERROR(WorkFailed(nix::DumpPath(path, hash)));
  const auto size = static_cast<int64_t>(hash.size());
  const nix::Sha256Digest digest = hash.Finish();
  session.Print({.table = [&] { return digest.ToNixString() + "\n"; },
                 .json =
                     [&](JsonLayout layout) {
                       return ObjectJson({{"path", options.path},
                                          {"hash", digest.ToNixString()},
                                          {"sri", digest.ToSri()},
                                          {"nar_size", size}},
                                         layout);
                     }});
  return Exit::kOk;
}

}  // namespace hydrant::client
