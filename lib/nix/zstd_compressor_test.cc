#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/file.h"
#include "lib/base/test_dir.h"
#include "lib/nix/codec_fixture.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/task_threads.h"
#include "lib/nix/test_store.h"
#include "lib/nix/zstd_frames.h"

namespace hydrant::nix {
namespace {

using testing::HasSubstr;

std::vector<ZstdFrame> FramesOf(std::string_view file) {
  ZstdFrameScanner scanner;
  EXPECT_TRUE(scanner.Write(file).ok());
  EXPECT_TRUE(scanner.at_frame_end());
  return scanner.frames();
}

class FailingSink final : public Sink {
 public:
  explicit FailingSink(size_t after) : left_(after) {}
  absl::Status Write(std::string_view bytes) override {
    ++calls;
    if (bytes.size() > left_) return absl::ResourceExhaustedError("disk full");
    left_ -= bytes.size();
    return absl::OkStatus();
  }
  int calls = 0;

 private:
  size_t left_;
};

TEST(ZstdCompressorTest, SameBytesWhateverTheThreadsAndTheWrites) {
  const std::string text = SomeText(2 * kZstdFrameContent + 777), bytes = ZstdOf(text);
  EXPECT_EQ(ZstdOf(text, 1, 1 << 24), bytes);
  EXPECT_EQ(ZstdOf(text, 2, 65537), bytes);
  EXPECT_EQ(ZstdOf(text, 7, 1001), bytes);
  EXPECT_EQ(Decode("zstd", bytes).value(), text);
}

TEST(TaskThreadsTest, WithoutAThreadATaskRunsWithinAdd) {
  TaskThreads threads(0);
  bool done = false;
  threads.Add([&] { done = true; });
  EXPECT_TRUE(done);
}

TEST(ZstdCompressorTest, FrameIsFullButForTheLastAndSaysItsSize) {
  const std::vector<ZstdFrame> frames = FramesOf(ZstdOf(std::string(2 * kZstdFrameContent + 1, 'x'), 2));
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].content_size, kZstdFrameContent);
  EXPECT_EQ(frames[2].content_size, 1u);
}

TEST(ZstdCompressorTest, FullFrameIsNotFollowedByAnEmptyOne) {
  EXPECT_EQ(FramesOf(ZstdOf(std::string(kZstdFrameContent, 'x'))).size(), 1u);
}

TEST(ZstdCompressorTest, NothingIsOneEmptyFrame) {
  const std::string bytes = ZstdOf("", 2);
  EXPECT_EQ(FramesOf(bytes).size(), 1u);
  EXPECT_EQ(Decode("zstd", bytes, 1).value(), "");
}

TEST(ZstdCompressorTest, ZstdToolReadsIt) {
  const std::string text = SomeText(kZstdFrameContent + 5);
  EXPECT_EQ(Tool({"zstd", "-d", "-c"}, ZstdOf(text, 2)), text);
}

TEST(ZstdCompressorTest, StockNixUnpacksAnArchiveOfSeveralFrames) {
  TestStore from, into;
  ASSERT_TRUE(WriteFileAtomically(from.dir() / "file", SomeText(2 * kZstdFrameContent)).ok());
  std::string path = from.Nix({"nix-store", "--add", from.dir() / "file"})->out;
  path.pop_back();
  const std::string cache = "file://" + (from.dir() / "cache");
  ASSERT_TRUE(from.Nix({"nix", "copy", "--to", cache + "?compression=none", path})->status.ok());
  const std::string file = from.dir() / ("cache/" + path.substr(11, 32) + ".narinfo");
  NarInfo info = ParseNarInfo(ReadFile(file).value()).value();
  const std::string bytes = ZstdOf(ReadFile(from.dir() / ("cache/" + info.url)).value(), 2);
  ASSERT_EQ(FramesOf(bytes).size(), 3u);
  info.url = "nar/ours.nar.zst";
  info.compression = "zstd";
  ASSERT_TRUE(WriteFileAtomically(from.dir() / "cache/nar/ours.nar.zst", bytes).ok());
  ASSERT_TRUE(WriteFileAtomically(file, PrintNarInfo(info)).ok());
  const auto copied = into.Nix({"nix", "copy", "--from", cache, "--no-check-sigs", path});
  EXPECT_TRUE(copied->status.ok()) << copied->err;
  EXPECT_EQ(ReadFile(into.RealPath(path)).value(), SomeText(2 * kZstdFrameContent));
}

TEST(ZstdCompressorTest, ResumedOneWritesTheRestOfTheSameBytes) {
  const std::string text = SomeText(3 * kZstdFrameContent + 9), bytes = ZstdOf(text);
  for (const size_t done : {size_t{1}, size_t{3}}) {
    std::vector<ZstdFrame> frames = FramesOf(bytes);
    frames.resize(done);
    const size_t kept = frames.back().offset + frames.back().compressed_size;
    StringSink out;
    auto compressor = ResumedZstdCompressor(out, frames, 3, 2).value();
    ASSERT_TRUE(WriteAll(*compressor, std::string_view(text).substr(done * kZstdFrameContent)).ok());
    EXPECT_EQ(bytes.substr(0, kept) + out.value, bytes) << done;
  }
}

TEST(ZstdCompressorTest, ResumedAtTheVeryEndOnlyTheTableIsLeft) {
  const std::string bytes = ZstdOf(std::string(kZstdFrameContent, 'x'));
  StringSink out;
  auto compressor = ResumedZstdCompressor(out, FramesOf(bytes)).value();
  ASSERT_TRUE(compressor->Finish().ok());
  EXPECT_EQ(out.value, PrintZstdSeekTable(FramesOf(bytes)));
}

TEST(ZstdCompressorTest, ResumingAfterForeignFramesIsRefused) {
  StringSink out;
  const absl::Status status = ResumedZstdCompressor(out, {{0, 100, 4096}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("4096"));
}

TEST(ZstdCompressorTest, FailureOfTheSinkIsToldAndTheSinkLeftAlone) {
  for (const int threads : {0, 2}) {
    FailingSink sink(10);
    auto compressor = ZstdCompressor(sink, 3, threads).value();
    const absl::Status status = WriteAll(*compressor, std::string(9 * kZstdFrameContent, 'x'), 1 << 20);
    EXPECT_EQ(status.message(), "disk full");
    EXPECT_EQ(compressor->Finish().message(), "disk full");
    EXPECT_EQ(sink.calls, 1) << threads;
  }
}

TEST(ZstdCompressorTest, AbandonedInTheMiddleItEnds) {
  StringSink out;
  auto compressor = ZstdCompressor(out, 3, 2).value();
  ASSERT_TRUE(compressor->Write(SomeText(3 * kZstdFrameContent + 1)).ok());
  compressor.reset();
  EXPECT_LT(out.value.size(), 3 * kZstdFrameContent);
}

TEST(ZstdCompressorTest, UnknownLevelIsRefused) {
  StringSink out;
  EXPECT_EQ(ZstdCompressor(out, 23).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hydrant::nix
