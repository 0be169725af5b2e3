#include "lib/nix/zstd_file_decoder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/test_dir.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/codec_fixture.h"
#include "lib/nix/zstd_frames.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

constexpr size_t kLength = 5 * kZstdFrameContent + 100;

const std::string& Text() {
  static const std::string text = SomeText(kLength);
  return text;
}
const std::string& File() {
  static const std::string file = ZstdOf(Text(), 2);
  return file;
}

absl::StatusOr<std::string> DecodeFile(std::string_view file, const ZstdDecodeOptions& options = {}) {
  StringSink out;
  if (absl::Status bad = DecodeZstdFile(TextBytes(file), out, options); !bad.ok()) return bad;
  return out.value;
}

TEST(ZstdFileDecoderTest, ContentComesInOrderWithAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 5, 99})
    EXPECT_EQ(DecodeFile(File(), {.threads = threads}).value(), Text()) << threads;
}

TEST(ZstdFileDecoderTest, FileOnDiskIsReadByDescriptor) {
  TestDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "f", File()).ok());
  const UniqueFd fd(open((dir / "f").c_str(), O_RDONLY | O_CLOEXEC));
  const FileBytes file = FileBytes::Of(fd.get()).value();
  StringSink out;
  ASSERT_TRUE(DecodeZstdFile(file, out).ok());
  EXPECT_EQ(out.value, Text());
  ASSERT_EQ(truncate((dir / "f").c_str(), 1000), 0);
  EXPECT_FALSE(DecodeZstdFile(file, out).ok()) << "cut while it was read";
}

TEST(ZstdFileDecoderTest, GoesOnFromAFrame) {
  for (const size_t first : {size_t{2}, size_t{5}}) {
    EXPECT_EQ(DecodeFile(File(), {.first_frame = first}).value(), Text().substr(first * kZstdFrameContent));
  }
  EXPECT_THAT(DecodeFile(File(), {.first_frame = 6}).status().ToString(), HasSubstr("no frame 6, it has 6"));
}

TEST(ZstdFileDecoderTest, FilesOfOthersAreDecodedInSeries) {
  EXPECT_EQ(DecodeFile(Tool({"zstd", "-c"}, Text())).value(), Text()) << "no table";
  EXPECT_EQ(DecodeFile(ZstdOf("")).value(), "");
  EXPECT_FALSE(DecodeFile("").ok());
  const std::string large(9 << 20, 'x'), frame = Tool({"zstd", "-c"}, large);
  EXPECT_EQ(
      DecodeFile(frame + PrintZstdSeekTable(std::vector<ZstdFrame>{{0, frame.size(), large.size()}})).value(),
      large);
}

TEST(ZstdFileDecoderTest, CorruptFrameIsNamedAndNothingBehindItIsWritten) {
  const std::vector<ZstdFrame> frames = ReadZstdSeekTable(TextBytes(File())).value();
  std::string file = File();
  file[frames[3].offset + frames[3].compressed_size - 2] ^= 1;  // of its checksum
  StringSink out;
  const absl::Status status = DecodeZstdFile(TextBytes(file), out);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("frame at offset " + std::to_string(frames[3].offset)));
  EXPECT_EQ(out.value.size(), 3 * kZstdFrameContent);
}

TEST(ZstdFileDecoderTest, TruncatedFileIsRefused) {
  EXPECT_THAT(DecodeFile(std::string_view(File()).substr(0, File().size() / 2)).status().ToString(),
              HasSubstr("too early"));
}

// Two frames behind one entry, and content sizes that are not the frames'.
TEST(ZstdFileDecoderTest, TableThatDoesNotFitTheFramesIsRefused) {
  const std::string b = Tool({"zstd", "-c"}, "bbbb"), frames = b + b + b;
  const auto with = [&](std::vector<ZstdFrame> told) {
    return DecodeFile(frames + PrintZstdSeekTable(told));
  };
  const size_t n = b.size();
  EXPECT_EQ(with({{0, n, 4}, {0, n, 4}, {0, n, 4}}).value(), "bbbbbbbbbbbb");
  EXPECT_THAT(with({{0, 2 * n, 8}, {0, n, 4}}).status().ToString(), HasSubstr("not one frame"));
  EXPECT_THAT(with({{0, n, 5}, {0, n, 4}, {0, n, 3}}).status().ToString(), HasSubstr("it holds 4 bytes"));
  EXPECT_THAT(with({{0, n, 4}, {0, n, 3}, {0, n, 5}}).status().ToString(), HasSubstr("too small"));
}

TEST(ZstdFileDecoderTest, WindowThatStockReadersRefuseIsRefused) {
  const std::string wide = Tool({"zstd", "--ultra", "--long=31", "-c"}, "some text");
  EXPECT_THAT(DecodeFile(wide).status().ToString(), HasSubstr("too much memory"));
  const std::string two = wide + wide;
  EXPECT_THAT(
      DecodeFile(two + PrintZstdSeekTable(std::vector<ZstdFrame>{{0, wide.size(), 9}, {0, wide.size(), 9}}))
          .status()
          .ToString(),
      HasSubstr("a window of"));
}

TEST(ZstdFileDecoderTest, FailureOfTheSinkEndsIt) {
  struct Full final : Sink {
    absl::Status Write(std::string_view) override { return absl::ResourceExhaustedError("disk full"); }
  } sink;
  EXPECT_EQ(DecodeZstdFile(TextBytes(File()), sink).message(), "disk full");
}

}  // namespace
}  // namespace hydrant::nix
