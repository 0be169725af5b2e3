// The decoders behind Decompressor, one a codec. `sink` must outlive it. Streams that were put one after the
// other are decoded as one, but for brotli's; any other byte behind a stream's end is refused. All fail with
// InvalidArgument on what is corrupt or, at Finish, cut. Memory follows from the format, never from a size
// that a stream claims.
#ifndef HYDRANT_LIB_NIX_DECODERS_H_
#define HYDRANT_LIB_NIX_DECODERS_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"

namespace hydrant::nix {

// What decoders say: "br stream: corrupt: …", "br stream: it ends too early".
inline absl::Status CorruptStream(std::string_view codec, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(AbslView(codec), " stream: corrupt: ", AbslView(why)));
}
inline absl::Status TruncatedStream(std::string_view codec) {
  return absl::InvalidArgumentError(absl::StrCat(AbslView(codec), " stream: it ends too early"));
}

// Window at most 2^27 bytes, which is what it allocates for such a frame; skips skippable frames.
absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdDecoder(Sink& sink);
// At most 1 GiB, for xz's largest dictionaries; 65 MiB for `xz -9`.
absl::StatusOr<std::unique_ptr<FinishingSink>> XzDecoder(Sink& sink);
absl::StatusOr<std::unique_ptr<FinishingSink>> Bzip2Decoder(Sink& sink);   // 4 MiB
absl::StatusOr<std::unique_ptr<FinishingSink>> GzipDecoder(Sink& sink);    // 64 KiB
absl::StatusOr<std::unique_ptr<FinishingSink>> BrotliDecoder(Sink& sink);  // 17 MiB

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DECODERS_H_
