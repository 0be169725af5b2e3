// The Nix archive format: dump a tree, restore one, or check one while it streams by. Constant memory whatever the size.
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

namespace hydrant::nix {

// Writes the archive of the file, symlink or folder at `path`. An unreadable file or a socket, device or pipe is an error
// that names it.
absl::Status DumpPath(const std::string& path, Sink& sink);

// Restores into `destination`, which must not exist (AlreadyExists); its parent must. Never writes outside it. On an
// error what was written stays for the caller to remove.
absl::Status RestorePath(Source& source, const std::string& destination);

// What one pass over an archive tells.
struct NarFacts {
  Sha256Digest hash;
  uint64_t size = 0;
  std::set<std::string> references;  // those of the asked-for hash parts that occur in the bytes
};

// Checks structure (names, order, padding, no trailing bytes), hashes, and scans for hash parts. InvalidArgument from
// Write or Finish at the first fault, with its offset. One thread.
class NarVerifier final : public Sink {
 public:
  explicit NarVerifier(std::set<std::string> hash_parts = {});
  ~NarVerifier() override;
  absl::Status Write(std::string_view bytes) override;
  // Once, after the last byte. InvalidArgument when the archive is not complete.
  absl::StatusOr<NarFacts> Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NAR_H_
