#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/zstd_frames.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kFrameMagic = 0xFD2FB528,
                   kSkippableMagic = 0x184D2A50;  // the latter's low four bits are free
constexpr uint64_t kMaxBlock = 128 << 10;

uint64_t ReadLittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The parts of a frame header's descriptor byte.
bool SingleSegment(uint8_t descriptor) { return (descriptor & 0x20) != 0; }
bool HasChecksum(uint8_t descriptor) { return (descriptor & 0x04) != 0; }
size_t WindowBytes(uint8_t descriptor) { return SingleSegment(descriptor) ? 0 : 1; }
size_t DictionaryIdBytes(uint8_t descriptor) { return (size_t{1} << (descriptor & 3)) >> 1; }
size_t ContentSizeBytes(uint8_t descriptor) {
  const int flag = descriptor >> 6;
  return flag == 0 ? (SingleSegment(descriptor) ? 1 : 0) : size_t{1} << flag;
}

uint64_t WindowSize(uint8_t byte) {
  const uint64_t base = uint64_t{1} << (10 + (byte >> 3));
  return base + base / 8 * (byte & 7);
}

}  // namespace

absl::Status ZstdFrameScanner::Fail(std::string_view why) {
  failed_ = true;
  return absl::InvalidArgumentError(
      absl::StrCat("zstd stream, frame at offset ", frame_start_, ": ", AbslView(why)));
}

void ZstdFrameScanner::Expect(Expected what, size_t length) {
  expected_ = what;
  field_length_ = length;
  field_.clear();
}

void ZstdFrameScanner::EndFrame() {
  if (!skippable_) frames_.push_back({frame_start_, offset_ - frame_start_, content_size_});
  frame_start_ = offset_;
  ends_after_skip_ = false;
  Expect(Expected::kMagic, 4);
}

absl::Status ZstdFrameScanner::Write(std::string_view bytes) {
  if (failed_) return absl::FailedPreconditionError("zstd stream: written to after it was refused");
  while (!bytes.empty()) {
    size_t n = 0;
    if (skip_ > 0) {
      n = static_cast<size_t>(std::min<uint64_t>(skip_, bytes.size()));
      skip_ -= n;
    } else {
      n = std::min(field_length_ - field_.size(), bytes.size());
      field_ += bytes.substr(0, n);
    }
    offset_ += n;
    bytes.remove_prefix(n);
    if (skip_ == 0 && field_.size() == field_length_) HYDRANT_RETURN_IF_ERROR(ReadField());
    if (skip_ == 0 && ends_after_skip_) EndFrame();
  }
  return absl::OkStatus();
}

absl::Status ZstdFrameScanner::ReadField() {
  switch (expected_) {
    case Expected::kMagic:
      return ReadMagic();
    case Expected::kSkippableSize:
      skip_ = ReadLittleEndian(field_);
      ends_after_skip_ = true;
      Expect(Expected::kMagic, 4);
      return absl::OkStatus();
    case Expected::kDescriptor: {
      descriptor_ = static_cast<uint8_t>(field_[0]);
      if ((descriptor_ & 0x08) != 0) return Fail("a reserved bit is set");
      const size_t length =
          WindowBytes(descriptor_) + DictionaryIdBytes(descriptor_) + ContentSizeBytes(descriptor_);
      Expect(Expected::kHeader, length);
      return absl::OkStatus();
    }
    case Expected::kHeader:
      return ReadHeader();
    case Expected::kBlock:
      return ReadBlock();
  }
  return Fail("no such field");
}

absl::Status ZstdFrameScanner::ReadMagic() {
  const uint64_t magic = ReadLittleEndian(field_);
  skippable_ = (magic & ~uint64_t{15}) == kSkippableMagic;
  if (!skippable_ && magic != kFrameMagic) return Fail("expected a zstd frame's magic number");
  if (!skippable_ && frames_.size() == kMaxZstdFrames)
    return Fail(absl::StrCat("more than ", kMaxZstdFrames, " frames"));
  Expect(skippable_ ? Expected::kSkippableSize : Expected::kDescriptor, skippable_ ? 4 : 1);
  return absl::OkStatus();
}

absl::Status ZstdFrameScanner::ReadHeader() {
  const std::string_view field = field_;
  const size_t size_bytes = ContentSizeBytes(descriptor_);
  content_size_.reset();
  if (size_bytes > 0)
    content_size_ = ReadLittleEndian(field.substr(field.size() - size_bytes)) + (size_bytes == 2 ? 256 : 0);
  const uint64_t window =
      SingleSegment(descriptor_) ? content_size_.value_or(0) : WindowSize(static_cast<uint8_t>(field[0]));
  if (window > kMaxZstdWindow) {
    return Fail(
        absl::StrCat("it asks for a window of ", window, " bytes, at most ", kMaxZstdWindow, " are read"));
  }
  Expect(Expected::kBlock, 3);
  return absl::OkStatus();
}

absl::Status ZstdFrameScanner::ReadBlock() {
  const uint64_t header = ReadLittleEndian(field_), type = header >> 1 & 3, size = header >> 3;
  if (type == 3) return Fail("a block is of the reserved type");
  if (size > kMaxBlock)
    return Fail(absl::StrCat("a block claims ", size, " bytes, at most ", kMaxBlock, " may be"));
  skip_ = type == 1 ? 1 : size;
  ends_after_skip_ = (header & 1) != 0;
  if (ends_after_skip_ && HasChecksum(descriptor_)) skip_ += 4;
  Expect(Expected::kBlock, 3);
  return absl::OkStatus();
}

}  // namespace hydrant::nix
