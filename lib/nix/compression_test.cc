#include "lib/nix/compression.h"

#include <brotli/encode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/nix/codec_fixture.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

TEST(ZstdTest, SkippableFramesAreSkipped) {
  const std::string skippable("\x5E\x2A\x4D\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(Decode("zstd", skippable + ZstdOf("a") + skippable + ZstdOf("b") + skippable, 1).value(), "ab");
}

TEST(ZstdTest, FlippedBitIsFoundByTheChecksum) {
  std::string bytes = ZstdOf(SomeText(100000));
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_FALSE(Decode("zstd", bytes, 1 << 20).ok());
}

std::string BrotliOf(std::string_view text) {
  size_t size = BrotliEncoderMaxCompressedSize(text.size()) + 16;
  std::string out(size, '\0');
  if (BrotliEncoderCompress(5, BROTLI_DEFAULT_WINDOW, BROTLI_DEFAULT_MODE, text.size(),
                            reinterpret_cast<const uint8_t*>(text.data()), &size,
                            reinterpret_cast<uint8_t*>(out.data())) != BROTLI_TRUE) {
    abort();
  }
  out.resize(size);
  return out;
}

// By the real tools; of brotli there is only the library's own encoder.
std::map<std::string, std::string> StreamsOf(std::string_view text) {
  return {{"xz", Tool({"xz", "-c"}, text)},
          {"bzip2", Tool({"bzip2", "-c"}, text)},
          {"gzip", Tool({"gzip", "-c"}, text)},
          {"zstd", Tool({"zstd", "-c"}, text)},
          {"br", BrotliOf(text)}};
}

TEST(DecompressorTest, WhatOtherToolsWroteIsReadInAnyPieces) {
  const std::string text = SomeText(700000);
  for (const auto& [codec, bytes] : StreamsOf(text)) {
    for (const size_t piece : {size_t{1}, size_t{7777}, bytes.size()}) {
      EXPECT_EQ(Decode(codec, bytes, piece).value(), text) << codec << " " << piece;
    }
  }
  EXPECT_EQ(Decode("", Tool({"bzip2", "-c"}, "x"), 10).value(), "x") << "no word is bzip2";
  EXPECT_EQ(Decode("none", text, 1000).value(), text);
}

TEST(DecompressorTest, WhatPythonWroteIsRead) {
  const std::string text = SomeText(50000);
  const auto python = [&](const std::string& module) {
    return Tool({"python3", "-c",
                 "import sys," + module + "; sys.stdout.buffer.write(" + module +
                     ".compress(sys.stdin.buffer.read()))"},
                text);
  };
  EXPECT_EQ(Decode("xz", python("lzma")).value(), text);
  EXPECT_EQ(Decode("bzip2", python("bz2")).value(), text);
  EXPECT_EQ(Decode("gzip", python("gzip")).value(), text);
}

TEST(DecompressorTest, StreamsOneAfterTheOtherAreOneButForBrotli) {
  const auto more = StreamsOf("more");
  for (const auto& [codec, bytes] : StreamsOf("text ")) {
    const auto both = Decode(codec, bytes + more.at(codec), 3);
    if (codec == "br") {
      EXPECT_THAT(both.status().ToString(), HasSubstr("more bytes follow its end"));
    } else {
      EXPECT_EQ(both.value(), "text more") << codec;
    }
  }
}

TEST(DecompressorTest, RubbishBehindAStreamIsRefused) {
  for (const auto& [codec, bytes] : StreamsOf("text")) {
    for (const size_t piece : {size_t{1}, size_t{1000}}) {
      EXPECT_EQ(Decode(codec, bytes + "rubbish behind it", piece).status().code(),
                absl::StatusCode::kInvalidArgument)
          << codec;
    }
  }
}

TEST(DecompressorTest, TruncatedAndCorruptStreamsAreRefused) {
  for (const auto& [codec, bytes] : StreamsOf(SomeText(50000))) {
    for (const size_t length : {size_t{0}, size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
      EXPECT_THAT(std::string(Decode(codec, bytes.substr(0, length), 1000).status().message()),
                  HasSubstr("too early"))
          << codec << " " << length;
    }
    EXPECT_EQ(Decode(codec, "this is no such stream", 1000).status().code(),
              absl::StatusCode::kInvalidArgument)
        << codec;
  }
}

TEST(DecompressorTest, FailureOfTheSinkEndsIt) {
  struct Full final : Sink {
    absl::Status Write(std::string_view) override { return absl::ResourceExhaustedError("disk full"); }
  } sink;
  for (const auto& [codec, bytes] : StreamsOf(SomeText(50000))) {
    EXPECT_EQ(WriteAll(**Decompressor(codec, sink), bytes).message(), "disk full") << codec;
  }
}

TEST(DecompressorTest, UnreadAndUnknownCodecsDiffer) {
  StringSink out;
  for (const char* codec : {"lz4", "lzip"}) {
    EXPECT_THAT(Decompressor(codec, out).status().ToString(),
                HasSubstr(std::string("UNIMPLEMENTED: compression ") + codec + " is not read here"));
  }
  EXPECT_EQ(Decompressor("rar", out).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ExtensionTest, WordsAndExtensionsMapBothWays) {
  for (const char* codec : {"none", "zstd", "xz", "bzip2", "gzip", "br", "lz4", "lzip"}) {
    EXPECT_EQ(CompressionOfExtension(FileExtension(codec).value()).value(), codec);
  }
  EXPECT_EQ(FileExtension("zstd").value(), ".zst");
  EXPECT_FALSE(FileExtension("").ok());
  EXPECT_FALSE(CompressionOfExtension(".rar").ok());
}

}  // namespace
}  // namespace hydrant::nix
