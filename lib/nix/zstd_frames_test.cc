#include "lib/nix/zstd_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/nix/codec_fixture.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

const std::string& File() {
  static const std::string file = ZstdOf(SomeText(2 * kZstdFrameContent + 100));
  return file;
}

absl::StatusOr<std::vector<ZstdFrame>> Table(std::string_view file) {
  return ReadZstdSeekTable(TextBytes(file));
}

std::string Changed(size_t from_end, char bits) {
  std::string file = File();
  file[file.size() - from_end] ^= bits;
  return file;
}

TEST(ZstdSeekTableTest, TellsTheFramesThatTheScannerFinds) {
  ZstdFrameScanner scanner;
  for (size_t at = 0; at < File().size(); at += 7) {
    ASSERT_TRUE(scanner.Write(std::string_view(File()).substr(at, 7)).ok());
  }
  EXPECT_EQ(scanner.frames().size(), 3u);
  EXPECT_EQ(Table(File()).value(), scanner.frames());
  EXPECT_EQ(scanner.complete_size(), File().size());
}

TEST(ZstdSeekTableTest, FileWithoutOneIsNotFound) {
  for (const std::string& file :
       {Tool({"zstd", "-c"}, "text"), std::string(), std::string("short"), Changed(1, 1)}) {
    EXPECT_EQ(Table(file).status().code(), absl::StatusCode::kNotFound);
  }
}

// From the end: magic 4, descriptor 1, number 4, then per entry content size 4 and compressed size 4
// backwards.
TEST(ZstdSeekTableTest, LiesAreRefused) {
  EXPECT_THAT(Table(Changed(17, 1)).status().ToString(),
              HasSubstr("INVALID_ARGUMENT: zstd seek table: the frames"));
  EXPECT_THAT(Table(Changed(14, '\x7F')).status().ToString(), HasSubstr("add up to"));
  EXPECT_THAT(Table(Changed(5, '\x04')).status().ToString(), HasSubstr("reserved bits"));
  EXPECT_THAT(Table("x" + File()).status().ToString(), HasSubstr("add up to"));
}

TEST(ZstdSeekTableTest, HugeNumberOfFramesAllocatesNothing) {
  EXPECT_EQ(Table(Changed(6, '\x7F')).status().code(), absl::StatusCode::kNotFound) << "larger than the file";
}

TEST(ZstdSeekTableTest, ChecksumsOfOthersArePassedOver) {
  const std::string frame = Tool({"zstd", "-c"}, "text");
  std::string table = PrintZstdSeekTable(std::vector<ZstdFrame>{{0, frame.size(), 4}});
  table[4] += 4;                    // payload
  table.insert(16, "\1\2\3\4", 4);  // after the entry's two sizes
  table[table.size() - 5] = '\x80';
  EXPECT_EQ(Table(frame + table).value().size(), 1u);
}

TEST(ZstdFrameScannerTest, CutFileHasTheFramesBeforeTheCut) {
  const std::vector<ZstdFrame> frames = Table(File()).value();
  ZstdFrameScanner scanner;
  ASSERT_TRUE(scanner.Write(std::string_view(File()).substr(0, frames[2].offset - 1)).ok());
  EXPECT_EQ(scanner.frames().size(), 1u);
  EXPECT_EQ(scanner.complete_size(), frames[1].offset);
  EXPECT_FALSE(scanner.at_frame_end());
  ASSERT_TRUE(scanner.Write(std::string_view(File()).substr(frames[2].offset - 1)).ok());
  EXPECT_EQ(scanner.frames(), frames);
}

TEST(ZstdFrameScannerTest, FramesOfTheToolAreFoundWithAndWithoutSizeAndChecksum) {
  const std::string text = SomeText(300000), run(500000, 'a');
  std::string file =
      Tool({"zstd", "-c"}, text) + Tool({"zstd", "-c", "--no-check"}, run) + Tool({"zstd", "-19", "-c"}, "");
  ZstdFrameScanner scanner;
  ASSERT_TRUE(scanner.Write(file).ok());
  EXPECT_EQ(scanner.frames().size(), 3u);
  EXPECT_EQ(scanner.frames()[0].content_size, std::nullopt) << "read from a pipe";
  EXPECT_TRUE(scanner.at_frame_end());
}

TEST(ZstdFrameScannerTest, WhatIsNoFrameIsRefusedByOffset) {
  const auto scan = [](std::string_view bytes) { return ZstdFrameScanner().Write(bytes).ToString(); };
  EXPECT_THAT(scan("this is none"), HasSubstr("frame at offset 0: expected a zstd frame's magic number"));
  EXPECT_THAT(scan(File() + "more"), HasSubstr("frame at offset " + std::to_string(File().size())));
  const std::string magic = "\x28\xB5\x2F\xFD";
  EXPECT_THAT(scan(magic + std::string("\x00\x98", 2)), HasSubstr("window of 536870912 bytes"));
  EXPECT_THAT(scan(magic + std::string("\xE0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9)),
              HasSubstr("a window of 1844674407"));
  EXPECT_THAT(scan(magic + std::string("\x00\x58\x07\x00\x00", 5)), HasSubstr("reserved type"));
  EXPECT_THAT(scan(magic + std::string("\x00\x58\xFD\xFF\xFF", 5)), HasSubstr("a block claims"));
  EXPECT_THAT(scan(magic + "\x08"), HasSubstr("reserved bit"));
}

}  // namespace
}  // namespace hydrant::nix
