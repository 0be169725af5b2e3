// Decodes a zstd file that can be read at any position, several frames at once.
#ifndef HYDRANT_LIB_NIX_ZSTD_FILE_DECODER_H_
#define HYDRANT_LIB_NIX_ZSTD_FILE_DECODER_H_

#include <cstddef>

#include "absl/status/status.h"
#include "lib/base/stream.h"
#include "lib/nix/positioned_source.h"

namespace hydrant::nix {

struct ZstdDecodeOptions {
  int threads = 2;         // 0: on the caller's alone
  size_t first_frame = 0;  // by the seek table: what lies before is not read
};

// The content, in order, into `sink`, on the caller's thread. Memory: two frames' content for each thread and
// one more, at most 8 MiB a frame; a file without a seek table, or with larger frames, is decoded on the
// caller's thread alone. InvalidArgument: the file is corrupt, its seek table lies (names the frame), or it
// has no frame first_frame. Else the source's or sink's error.
absl::Status DecodeZstdFile(const PositionedSource& file, Sink& sink, const ZstdDecodeOptions& options = {});

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_ZSTD_FILE_DECODER_H_
