// The decoders behind Decompressor, one a codec. Each decodes streams that were put one after the other;
// `sink` must outlive it.
#ifndef HYDRANT_LIB_NIX_DECODERS_H_
#define HYDRANT_LIB_NIX_DECODERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "lib/nix/compression.h"

namespace hydrant::nix {

absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdDecoder(
    Sink& sink);  // window at most 2^27; skips skippable frames
absl::StatusOr<std::unique_ptr<FinishingSink>> XzDecoder(Sink& sink);  // memory at most 1 GiB
absl::StatusOr<std::unique_ptr<FinishingSink>> Bzip2Decoder(Sink& sink);
absl::StatusOr<std::unique_ptr<FinishingSink>> GzipDecoder(Sink& sink);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DECODERS_H_
