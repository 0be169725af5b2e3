// The codecs of a binary cache, streaming. Writing: none and zstd; reading: none, zstd, xz, bzip2,
// gzip, br.
#ifndef HYDRANT_LIB_NIX_COMPRESSION_H_
#define HYDRANT_LIB_NIX_COMPRESSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/base/stream.h"
#include "lib/nix/zstd_frames.h"

namespace hydrant::nix {

// A sink that must be told that no more comes.
class FinishingSink : public Sink {
 public:
  virtual absl::Status Finish() = 0;  // once
};

// Bytes of content in each frame that is written, but for the last. The smaller, the less memory a thread takes; 4 MiB cost 0.2 %
// of the compressed size against 16 MiB.
inline constexpr size_t kZstdFrameContent = 4 << 20;

// Compresses into `sink` (which must outlive it, and is written to by the caller's thread alone) in zstd frames of
// kZstdFrameContent, each with its checksum and content size, and a seek table (zstd_frames.h) at the end. The bytes follow
// from the content and the level, whatever the number of threads and the size of the writes. `threads` compress beside the
// caller's, 0: none. Memory at level 3: 10 MiB a thread, and as much for each of two frames that wait and are filled. After a
// failure, which is the sink's own, every call tells it again. Dropped without Finish it abandons what is under way.
// InvalidArgument for an unknown level.
absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdCompressor(Sink& sink, int level = 3, int threads = 0);

// Goes on after the frames `done`, which were written before with the same level and lie in front of what `sink` gets: the
// content is written to it from done.size() * kZstdFrameContent on. InvalidArgument when these are not our frames.
absl::StatusOr<std::unique_ptr<FinishingSink>> ResumedZstdCompressor(Sink& sink, std::vector<ZstdFrame> done,
                                                                     int level = 3, int threads = 0);

// Decodes `compression` (a narinfo's word; "" is bzip2, as Nix has it) into `sink`. Unimplemented for a codec that is not
// read. Finish fails on a truncated stream.
absl::StatusOr<std::unique_ptr<FinishingSink>> Decompressor(std::string_view compression, Sink& sink);

// "zstd" -> ".zst", "none" -> "", …; InvalidArgument for an unknown word. And back: ".zst" -> "zstd".
absl::StatusOr<std::string> FileExtension(std::string_view compression);
absl::StatusOr<std::string> CompressionOfExtension(std::string_view extension);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_COMPRESSION_H_
