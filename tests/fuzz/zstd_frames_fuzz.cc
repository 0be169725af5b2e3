// Where the frames of a zstd file lie: what is told by its seek table, found in its bytes and decoded agrees.
#include "lib/nix/compression.h"
#include "lib/nix/zstd_file_decoder.h"
#include "lib/nix/zstd_frames.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

constexpr size_t kMostDecoded = 4 << 20;

absl::Status DecodeStream(std::string_view stream, Sink& sink) {
  auto decoder = nix::Decompressor("zstd", sink);
  DemandOk(decoder.status(), "there is a decoder");
  const absl::Status written = (*decoder)->Write(stream);
  return written.ok() ? (*decoder)->Finish() : written;
}

// What the scanner says is the same whatever the pieces.
void Scan(std::string_view input) {
  nix::ZstdFrameScanner whole, pieced;
  const absl::Status scanned = whole.Write(input);
  Pieces pieces(input);
  const absl::Status in_pieces = Copy(pieces, pieced).status();
  Demand(scanned == in_pieces, "the scanner's verdict is the same in pieces",
         scanned.ToString() + " / " + in_pieces.ToString());
  Demand(whole.frames() == pieced.frames() && whole.complete_size() == pieced.complete_size() &&
             whole.at_frame_end() == pieced.at_frame_end(),
         "the scanner finds the same in pieces");
  uint64_t end = 0;
  for (const nix::ZstdFrame& frame : whole.frames()) {
    Demand(frame.offset >= end && frame.offset + frame.compressed_size <= input.size(),
           "frames lie one behind the other");
    end = frame.offset + frame.compressed_size;
  }
  Demand(whole.complete_size() >= end && whole.complete_size() <= input.size(),
         "what is complete has been written");
}

void ReadTable(std::string_view input) {
  const auto table = nix::ReadZstdSeekTable(nix::TextBytes(input));
  if (!table.ok()) return;
  uint64_t end = 0;
  for (const nix::ZstdFrame& frame : *table) {
    Demand(frame.offset == end && frame.content_size.has_value(),
           "a table's frames lie one behind the other");
    end += frame.compressed_size;
  }
  Demand(end < input.size(), "a table's frames lie in front of it");
  const std::string printed = std::string(input.substr(0, end)) + nix::PrintZstdSeekTable(*table);
  const auto again = nix::ReadZstdSeekTable(nix::TextBytes(printed));
  DemandOk(again.status(), "a printed table can be read");
  Demand(*again == *table, "a printed table reads the same");
}

}  // namespace

void FuzzZstdFrames(std::string_view input) {
  Scan(input);
  ReadTable(input);
  BoundedSink streamed(kMostDecoded), here(kMostDecoded), threaded(kMostDecoded);
  const absl::Status stream = DecodeStream(input, streamed);
  const absl::Status file = nix::DecodeZstdFile(nix::TextBytes(input), here, {.threads = 0});
  const absl::Status several = nix::DecodeZstdFile(nix::TextBytes(input), threaded, {.threads = 2});
  Demand(several.ok() == file.ok(), "the verdict is the same whatever the threads",
         several.ToString() + " / " + file.ToString());
  if (!file.ok()) return;
  DemandOk(stream, "a file that decodes is a stream that decodes");
  Demand(streamed.value() == here.value() && streamed.value() == threaded.value(),
         "file and stream hold the same");
}

}  // namespace hydrant::fuzz
