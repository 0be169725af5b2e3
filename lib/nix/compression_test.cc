#include "lib/nix/compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "lib/base/subprocess.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

std::string SomeText(size_t size) {
  std::mt19937 random(5);
  std::string text;
  while (text.size() < size) text += "word" + std::to_string(random() % 5000) + " ";
  text.resize(size);
  return text;
}

std::string ZstdOf(std::string_view text, int threads = 0) {
  StringSink out;
  auto compressor = ZstdCompressor(out, 3, threads).value();
  for (size_t at = 0; at < text.size(); at += 100000)
    EXPECT_TRUE(compressor->Write(text.substr(at, 100000)).ok());
  EXPECT_TRUE(compressor->Finish().ok());
  return out.value;
}

absl::StatusOr<std::string> Decode(std::string_view codec, std::string_view bytes, size_t piece) {
  StringSink out;
  auto decoder = Decompressor(codec, out);
  if (!decoder.ok()) return decoder.status();
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (absl::Status bad = (*decoder)->Write(bytes.substr(at, piece)); !bad.ok()) return bad;
  }
  if (absl::Status bad = (*decoder)->Finish(); !bad.ok()) return bad;
  return out.value;
}

std::string Tool(std::vector<std::string> argv, std::string_view input) {
  auto done = hydrant::Run({.argv = std::move(argv)}, input, absl::Minutes(1), 256 << 20);
  EXPECT_TRUE(done.ok() && done->status.ok());
  return done.ok() ? done->out : "";
}

size_t Frames(std::string_view bytes) {
  size_t frames = 0;
  for (size_t at = 0; (at = bytes.find("\x28\xB5\x2F\xFD", at)) != std::string_view::npos; at += 4) ++frames;
  return frames;
}

TEST(ZstdTest, ThreeFramesForFortyMebibytesAndTheSameBytesBack) {
  const std::string text = SomeText(40 << 20), bytes = ZstdOf(text);
  EXPECT_EQ(Frames(bytes), 3u);
  EXPECT_EQ(Decode("zstd", bytes, 65536).value(), text);
  EXPECT_EQ(ZstdOf(text, 2), ZstdOf(text, 2)) << "threads do not make the result differ from run to run";
  EXPECT_EQ(Decode("zstd", ZstdOf(text, 2), 1 << 20).value(), text);
}

TEST(ZstdTest, FullFrameIsNotFollowedByAnEmptyOne) {
  EXPECT_EQ(Frames(ZstdOf(std::string(16 << 20, 'x'))), 1u);
}

TEST(ZstdTest, NothingIsOneEmptyFrame) {
  const std::string bytes = ZstdOf("");
  EXPECT_EQ(Frames(bytes), 1u);
  EXPECT_EQ(Decode("zstd", bytes, 1).value(), "");
}

TEST(ZstdTest, SkippableFramesAreSkipped) {
  const std::string skippable("\x5E\x2A\x4D\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(Decode("zstd", skippable + ZstdOf("a") + skippable + ZstdOf("b") + skippable, 1).value(), "ab");
}

TEST(ZstdTest, FlippedBitIsFoundByTheChecksum) {
  std::string bytes = ZstdOf(SomeText(100000));
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_FALSE(Decode("zstd", bytes, 1 << 20).ok());
}

TEST(DecompressorTest, WhatOtherToolsWroteIsReadInAnyPieces) {
  const std::string text = SomeText(700000);
  const std::map<std::string, std::vector<std::string>> tools = {
      {"xz", {"xz", "-c"}}, {"bzip2", {"bzip2", "-c"}}, {"gzip", {"gzip", "-c"}}};
  for (const auto& [codec, argv] : tools) {
    const std::string bytes = Tool(argv, text);
    for (const size_t piece : {size_t{1}, size_t{7777}, bytes.size()}) {
      EXPECT_EQ(Decode(codec, bytes, piece).value(), text) << codec << " " << piece;
    }
    EXPECT_EQ(Decode(codec, bytes + Tool(argv, "more"), 4096).value(), text + "more") << codec;
  }
  EXPECT_EQ(Decode("", Tool({"bzip2", "-c"}, "x"), 10).value(), "x") << "no word is bzip2";
  EXPECT_EQ(Decode("none", text, 1000).value(), text);
}

TEST(DecompressorTest, TruncatedAndCorruptStreamsAreRefused) {
  const std::string text = SomeText(50000);
  const std::map<std::string, std::string> streams = {{"xz", Tool({"xz", "-c"}, text)},
                                                      {"bzip2", Tool({"bzip2", "-c"}, text)},
                                                      {"gzip", Tool({"gzip", "-c"}, text)},
                                                      {"zstd", ZstdOf(text)}};
  for (const auto& [codec, bytes] : streams) {
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

TEST(DecompressorTest, UnreadAndUnknownCodecsDiffer) {
  StringSink out;
  EXPECT_EQ(Decompressor("br", out).status().code(), absl::StatusCode::kUnimplemented);
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
