// For tests of codecs: text that compresses like real files, and streams of it.
#ifndef HYDRANT_LIB_NIX_CODEC_FIXTURE_H_
#define HYDRANT_LIB_NIX_CODEC_FIXTURE_H_

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/base/subprocess.h"
#include "lib/nix/compression.h"

namespace hydrant::nix {

inline std::string SomeText(size_t size) {
  std::mt19937 random(5);
  std::string piece, text;
  while (piece.size() < std::min<size_t>(size, 1 << 20))
    piece += "word" + std::to_string(random() % 5000) + " ";
  text.reserve(size + piece.size());
  while (text.size() < size) text += piece;
  text.resize(size);
  return text;
}

// Writes all, in pieces, and finishes.
inline absl::Status WriteAll(FinishingSink& sink, std::string_view bytes, size_t piece = 100000) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (absl::Status bad = sink.Write(bytes.substr(0, piece)); !bad.ok()) return bad;
  }
  return sink.Finish();
}

inline std::string ZstdOf(std::string_view text, int threads = 0, size_t piece = 100000) {
  StringSink out;
  auto compressor = ZstdCompressor(out, 3, threads);
  if (!compressor.ok() || !WriteAll(**compressor, text, piece).ok()) abort();
  return out.value;
}

inline absl::StatusOr<std::string> Decode(std::string_view codec, std::string_view bytes,
                                          size_t piece = 65536) {
  StringSink out;
  auto decoder = Decompressor(codec, out);
  if (!decoder.ok()) return decoder.status();
  if (absl::Status bad = WriteAll(**decoder, bytes, piece); !bad.ok()) return bad;
  return out.value;
}

// What the program makes of `input`.
inline std::string Tool(std::vector<std::string> argv, std::string_view input) {
  auto done = hydrant::Run({.argv = std::move(argv)}, input, absl::Minutes(1), 256 << 20);
  if (!done.ok() || !done->status.ok()) abort();
  return done->out;
}

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_CODEC_FIXTURE_H_
