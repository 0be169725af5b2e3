// Where the frames of a zstd file lie: told by the seek table at its end, or found in the bytes as they pass.
// A frame can be decoded, and checked by its own checksum, without any other. Formats: RFC 8878 and zstd's
// seekable format 0.1.0.
#ifndef HYDRANT_LIB_NIX_ZSTD_FRAMES_H_
#define HYDRANT_LIB_NIX_ZSTD_FRAMES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/stream.h"
#include "lib/nix/positioned_source.h"

namespace hydrant::nix {

inline constexpr size_t kMaxZstdFrames = 1 << 20;    // of one file: 4 TiB in our frames
inline constexpr uint64_t kMaxZstdWindow = 1 << 27;  // bytes; what Nix's reader accepts

struct ZstdFrame {
  uint64_t offset = 0;                   // bytes, in the file
  uint64_t compressed_size = 0;          // bytes, of the whole frame
  std::optional<uint64_t> content_size;  // bytes; unknown when the frame does not say
  friend bool operator==(const ZstdFrame&, const ZstdFrame&) = default;
};

// The seek table for frames that lie one after the other from the file's beginning, each with its content
// size, none of 4 GiB or more: a skippable frame, which every zstd reader passes over.
std::string PrintZstdSeekTable(std::span<const ZstdFrame> frames);

// The frames that the seek table at the end of `file` tells. NotFound when there is none. InvalidArgument
// when it lies: its sizes must add up to the file's. What the frames hold is not looked at.
absl::StatusOr<std::vector<ZstdFrame>> ReadZstdSeekTable(const PositionedSource& file);

// Finds frames in the bytes of a zstd file that are written to it from the beginning, without decoding them.
// Write fails with InvalidArgument at the first byte that cannot be of one (or asks for a window over
// kMaxZstdWindow).
class ZstdFrameScanner final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override;
  // The complete ones so far, skippable frames left out.
  const std::vector<ZstdFrame>& frames() const { return frames_; }
  // How many bytes end with a complete frame, skippable ones included: where a download can go on.
  uint64_t complete_size() const { return frame_start_; }
  // True when all that was written are complete frames.
  bool at_frame_end() const { return frame_start_ == offset_ && !failed_; }

 private:
  enum class Expected { kMagic, kSkippableSize, kDescriptor, kHeader, kBlock };
  absl::Status ReadField();
  absl::Status ReadMagic();
  absl::Status ReadHeader();
  absl::Status ReadBlock();
  void Expect(Expected what, size_t length);
  void EndFrame();
  absl::Status Fail(std::string_view why);

  std::vector<ZstdFrame> frames_;
  uint64_t offset_ = 0, frame_start_ = 0;
  std::string field_;
  size_t field_length_ = 4;
  Expected expected_ = Expected::kMagic;
  uint64_t skip_ = 0;  // bytes to pass over before the next field
  bool ends_after_skip_ = false, skippable_ = false, failed_ = false;
  uint8_t descriptor_ = 0;
  std::optional<uint64_t> content_size_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_ZSTD_FRAMES_H_
