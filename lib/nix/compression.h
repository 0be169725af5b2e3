// The codecs of a binary cache, streaming. Writing: none and zstd; reading: none, zstd, xz, bzip2, gzip.
#ifndef HYDRANT_LIB_NIX_COMPRESSION_H_
#define HYDRANT_LIB_NIX_COMPRESSION_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lib/base/stream.h"

namespace hydrant::nix {

// A sink that must be told that no more comes.
class FinishingSink : public Sink {
 public:
  virtual absl::Status Finish() = 0;  // once
};

// Compresses into `sink` (which must outlive it) in zstd frames of 16 MiB of input, window at most 2^27.
// threads 0: none beside the caller's.
absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdCompressor(Sink& sink, int level = 3, int threads = 0);

// Decodes `compression` (a narinfo's word; "" is bzip2, as Nix has it) into `sink`. Unimplemented for a codec that is not
// read. Finish fails on a truncated stream.
absl::StatusOr<std::unique_ptr<FinishingSink>> Decompressor(std::string_view compression, Sink& sink);

// "zstd" -> ".zst", "none" -> "", …; InvalidArgument for an unknown word. And back: ".zst" -> "zstd".
absl::StatusOr<std::string> FileExtension(std::string_view compression);
absl::StatusOr<std::string> CompressionOfExtension(std::string_view extension);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_COMPRESSION_H_
