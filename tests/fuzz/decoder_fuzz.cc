// Compressed streams: the codec is the first byte, the rest is the stream. In one piece or in many, the same
// comes out of it, and never more than the sink takes.
#include "lib/nix/compression.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

constexpr size_t kMostDecoded = 4 << 20;
constexpr std::string_view kCodecs[] = {"none", "zstd", "xz", "bzip2", "gzip", "br"};

absl::Status Decode(std::string_view codec, Source& stream, Sink& sink) {
  auto decoder = nix::Decompressor(codec, sink);
  if (!decoder.ok()) return decoder.status();
  if (const auto copied = Copy(stream, **decoder); !copied.ok()) return copied.status();
  return (*decoder)->Finish();
}

void RoundTrip(std::string_view bytes) {
  StringSink compressed;
  auto compressor = nix::ZstdCompressor(compressed, /*level=*/1);
  DemandOk(compressor.status(), "there is a compressor");
  Pieces pieces(bytes);
  DemandOk(Copy(pieces, **compressor).status(), "any bytes can be compressed");
  DemandOk((*compressor)->Finish(), "a compressed stream ends");
  BoundedSink decoded(bytes.size());
  StringSource source(compressed.value);
  DemandOk(Decode("zstd", source, decoded), "what was compressed can be decoded");
  Demand(decoded.value() == bytes, "compression keeps the bytes");
}

}  // namespace

void FuzzDecoder(std::string_view input) {
  if (input.empty()) return;
  const std::string_view codec = kCodecs[static_cast<unsigned char>(input[0]) % std::size(kCodecs)];
  const std::string_view stream = input.substr(1);
  BoundedSink whole(kMostDecoded), pieced(kMostDecoded);
  StringSource source(stream);
  Pieces pieces(stream);
  const absl::Status decoded = Decode(codec, source, whole);
  const absl::Status in_pieces = Decode(codec, pieces, pieced);
  Demand(decoded.code() == in_pieces.code(), "the verdict is the same in pieces",
         decoded.ToString() + " / " + in_pieces.ToString());
  if (decoded.ok()) Demand(whole.value() == pieced.value(), "the bytes are the same in pieces");
  if (Fingerprint(input) % 8 == 0) RoundTrip(stream);  // slow
}

}  // namespace hydrant::fuzz
