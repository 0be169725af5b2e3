#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/zstd_frames.h"

namespace hydrant::nix {
namespace {

constexpr uint32_t kSkippableMagic = 0x184D2A5E, kTableMagic = 0x8F92EAB1;
constexpr size_t kHeaderSize = 8, kFooterSize = 9;
constexpr uint8_t kHasChecksums = 0x80, kReservedBits = 0x7C;

void Append32(std::string& out, uint64_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 255);
}

uint32_t Read32(const char* at) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

absl::Status Lies(std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("zstd seek table: ", AbslView(why)));
}

absl::Status NoTable() { return absl::NotFoundError("the zstd file has no seek table"); }

struct TableShape {
  uint64_t offset = 0;  // in the file, of the skippable frame's header
  size_t frames = 0, entry_size = 8;
};

// By the footer, when it and the skippable frame's header agree that there is a table.
absl::StatusOr<TableShape> FindTable(const PositionedSource& file) {
  if (file.size() < kHeaderSize + kFooterSize) return NoTable();
  std::array<char, kFooterSize> footer;
  HYDRANT_RETURN_IF_ERROR(file.ReadAt(file.size() - kFooterSize, footer));
  if (Read32(&footer[5]) != kTableMagic) return NoTable();
  TableShape shape;
  shape.frames = Read32(footer.data());
  const auto descriptor = static_cast<uint8_t>(footer[4]);
  if ((descriptor & kHasChecksums) != 0) shape.entry_size = 12;
  const uint64_t payload = uint64_t{shape.frames} * shape.entry_size + kFooterSize;
  if (payload + kHeaderSize > file.size()) return NoTable();
  shape.offset = file.size() - payload - kHeaderSize;
  std::array<char, kHeaderSize> header;
  HYDRANT_RETURN_IF_ERROR(file.ReadAt(shape.offset, header));
  if (Read32(header.data()) != kSkippableMagic || Read32(&header[4]) != payload) return NoTable();
  if ((descriptor & kReservedBits) != 0) return Lies("reserved bits are set");
  if (shape.frames > kMaxZstdFrames)
    return Lies(absl::StrCat(shape.frames, " frames, at most ", kMaxZstdFrames, " are read"));
  return shape;
}

}  // namespace

std::string PrintZstdSeekTable(std::span<const ZstdFrame> frames) {
  std::string out;
  out.reserve(kHeaderSize + frames.size() * 8 + kFooterSize);
  Append32(out, kSkippableMagic);
  Append32(out, frames.size() * 8 + kFooterSize);
  for (const ZstdFrame& frame : frames) {
    Append32(out, frame.compressed_size);
    Append32(out, frame.content_size.value_or(0));
  }
  Append32(out, frames.size());
  out += '\0';  // no checksums: each frame has its own
  Append32(out, kTableMagic);
  return out;
}

absl::StatusOr<std::vector<ZstdFrame>> ReadZstdSeekTable(const PositionedSource& file) {
  HYDRANT_ASSIGN_OR_RETURN(const TableShape shape, FindTable(file));
  std::string entries(shape.frames * shape.entry_size, '\0');
  HYDRANT_RETURN_IF_ERROR(file.ReadAt(shape.offset + kHeaderSize, entries));
  std::vector<ZstdFrame> frames;
  frames.reserve(shape.frames);
  uint64_t offset = 0;
  for (size_t i = 0; i < shape.frames; ++i) {
    const char* entry = &entries[i * shape.entry_size];
    frames.push_back({offset, Read32(entry), Read32(entry + 4)});
    if (frames.back().compressed_size == 0) return Lies(absl::StrCat("frame ", i, " has no bytes"));
    offset += frames.back().compressed_size;
  }
  if (offset != shape.offset) {
    return Lies(absl::StrCat("the frames add up to ", offset, " bytes, but ", shape.offset,
                             " bytes lie before the table"));
  }
  return frames;
}

}  // namespace hydrant::nix
