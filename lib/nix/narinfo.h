// The signed description of one store path in a binary cache. Strict on writing, as tolerant as Nix on reading.
#ifndef HYDRANT_LIB_NIX_NARINFO_H_
#define HYDRANT_LIB_NIX_NARINFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/nix/hash.h"
#include "lib/nix/store_path.h"

namespace hydrant::nix {

struct NarInfo {
  StorePath store_path;
  std::string url;               // relative to the cache's root, "nar/<file hash>.nar.zst"
  std::string compression;       // none xz bzip2 zstd gzip br lz4 lzip
  std::optional<Sha256Digest> file_hash;
  uint64_t file_size = 0;        // bytes; 0: not known
  Sha256Digest nar_hash;
  uint64_t nar_size = 0;         // bytes, > 0
  std::vector<StorePath> references;  // sorted, no duplicates
  std::string deriver;           // base name of the .drv; empty: unknown
  std::string content_address;   // "fixed:r:sha256:…", "text:sha256:…"; empty: input-addressed
  std::vector<std::string> signatures;  // "name:base64"
  std::vector<std::string> other_fields;  // whole lines, "Key: value", of keys that we do not know: kept for newer Nixes
};

// Reads what Nix 2.8 reads, as it does: "unknown-deriver" is no deriver; a missing Compression is bzip2; hashes may be base32,
// base16, base64 or SRI of any algorithm (a FileHash that is no SHA-256 counts as unknown); the last of repeated fields
// counts; a second References or CA, or an empty Deriver, is an error. InvalidArgument names the line and the field.
// Refused, though Nix accepts it, is what it misreads or what can be of no use:
//  - a line without ":", or with nothing behind it: Nix takes the next line for a part of it;
//  - a known key with anything but a blank or tab behind its ":": Nix drops the first character of the value;
//  - a NarHash that is no SHA-256: Nix never finds it right;
//  - names that begin with a dot, store paths without "-" behind the hash: newer Nixes refuse them.
absl::StatusOr<NarInfo> ParseNarInfo(std::string_view text);
std::string PrintNarInfo(const NarInfo& info);

// What one must satisfy to be stored, beyond what reading it demands: a codec that Nix knows, a URL that is relative and
// stays inside the cache, a file hash and size, sizes below 2^63, signatures that are "name:base64 of 64 bytes", a content
// address of a known form, at most 16 other fields of at most 4096 bytes. What passes is printed as lines that every Nix reads
// alike. InvalidArgument names the field.
absl::Status CheckForStorage(const NarInfo& info);

// The text that is signed: 1;<path>;sha256:<base32>;<size>;<references, full, sorted, joined by ",">.
std::string Fingerprint(const NarInfo& info);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NARINFO_H_
