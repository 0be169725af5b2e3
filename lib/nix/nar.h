// The Nix archive format: dump a tree, restore one, or check one while it streams by. Memory does not grow
// with its size.
#ifndef HYDRANT_LIB_NIX_NAR_H_
#define HYDRANT_LIB_NIX_NAR_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/stream.h"
#include "lib/nix/hash.h"
#include "lib/nix/nar_listing.h"

namespace hydrant::nix {

// Writes the archive of the file, symlink or folder at `path`, in blocks of up to 256 KiB. Entries in byte
// order, as Nix has them; hard links are separate files, holes are zero bytes. What cannot be archived is an
// error that names it: InvalidArgument for a socket, device or pipe and for folders deeper than kNarMaxDepth,
// PermissionDenied for what cannot be read, Aborted for a file that grew or shrank while it was read. Then
// the archive is cut off, never complete and wrong.
absl::Status DumpPath(const std::string& path, Sink& sink);

// Restores into `destination`, which must not exist (AlreadyExists); its parent must. Never writes outside
// it. Modes are 0755 for folders and executables and 0644 for other files whatever the umask, as by
// `nix-store --restore`. An error names the path or the byte of the archive; what was written stays for the
// caller to remove.
absl::Status RestorePath(Source& source, const std::string& destination);

// What one pass over an archive is to tell besides its hash and size.
struct NarQuestions {
  std::set<std::string> hash_parts;  // which of them occur in the bytes
  bool listing = false;
  size_t max_listing_bytes = NarListing::kMaxBytes;
};

struct NarFacts {
  Sha256Digest hash;
  uint64_t size = 0;
  std::set<std::string> references;  // those of the asked-for hash parts that occur in the bytes
  // FailedPrecondition when not asked for; ResourceExhausted when it would be too large: the other facts
  // still hold.
  absl::StatusOr<NarListing> listing = absl::FailedPreconditionError("no listing was asked for");
};

// Checks structure (names, order, padding, no trailing bytes), hashes, scans and lists in one pass over the
// bytes, which it does not keep. InvalidArgument from Write or Finish at the first fault, with its offset.
// One thread.
class NarVerifier final : public Sink {
 public:
  explicit NarVerifier(std::set<std::string> hash_parts = {});
  explicit NarVerifier(NarQuestions questions);
  ~NarVerifier() override;
  absl::Status Write(std::string_view bytes) override;
  // Once, after the last byte. InvalidArgument when the archive is not complete.
  absl::StatusOr<NarFacts> Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The facts of the archive that DumpPath would write. Its errors.
absl::StatusOr<NarFacts> DescribePath(const std::string& path, NarQuestions questions = {});

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NAR_H_
