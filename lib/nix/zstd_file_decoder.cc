#include "lib/nix/zstd_file_decoder.h"

#include <zstd.h>

#include <algorithm>
#include <deque>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/decoders.h"
#include "lib/nix/task_threads.h"
#include "lib/nix/zstd_frames.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kMostParallelFrame = 8 << 20;  // bytes, compressed or not
constexpr size_t kBlock = 128 << 10;
constexpr int kMostThreads = 64;

absl::Status Bad(std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("zstd file: ", AbslView(why)));
}

// What one frame needs, used again for a later one.
class FrameSpace {
 public:
  ~FrameSpace() { ZSTD_freeDCtx(context_); }
  std::string_view content() const { return content_; }

  // The bytes must be one frame with the content size that the table tells: neither a second one nor a window
  // that others would not read can hide here.
  absl::Status Decode(const PositionedSource& file, const ZstdFrame& frame) {
    compressed_.resize(frame.compressed_size);
    content_.resize(*frame.content_size);
    HYDRANT_RETURN_IF_ERROR(file.ReadAt(frame.offset, compressed_));
    ZstdFrameScanner scanner;
    HYDRANT_RETURN_IF_ERROR(scanner.Write(compressed_));
    if (scanner.frames().size() != 1 || scanner.frames()[0].compressed_size != frame.compressed_size) {
      return Bad("the bytes are not one frame");
    }
    const size_t n = ZSTD_decompressDCtx(context_, content_.data(), content_.size(), compressed_.data(),
                                         compressed_.size());
    if (ZSTD_isError(n) != 0) return Bad(ZSTD_getErrorName(n));
    if (n != content_.size()) return Bad(absl::StrCat("it holds ", n, " bytes"));
    return absl::OkStatus();
  }

 private:
  std::string compressed_, content_;
  ZSTD_DCtx* const context_ = ZSTD_createDCtx();
};

absl::Status DecodeWithoutTable(const PositionedSource& file, Sink& sink) {
  HYDRANT_ASSIGN_OR_RETURN(const auto decoder, ZstdDecoder(sink));
  std::string block;
  for (uint64_t offset = 0; offset < file.size(); offset += block.size()) {
    block.resize(static_cast<size_t>(std::min<uint64_t>(kBlock, file.size() - offset)));
    HYDRANT_RETURN_IF_ERROR(file.ReadAt(offset, block));
    HYDRANT_RETURN_IF_ERROR(decoder->Write(block));
  }
  return decoder->Finish();
}

// Counts what passes.
class CountingSink final : public Sink {
 public:
  explicit CountingSink(Sink& sink) : sink_(sink) {}
  absl::Status Write(std::string_view bytes) override {
    count += bytes.size();
    return sink_.Write(bytes);
  }
  uint64_t count = 0;

 private:
  Sink& sink_;
};

// A frame of any size in constant memory, held to what the table tells as FrameSpace does.
absl::Status DecodeFrameInBlocks(const PositionedSource& file, const ZstdFrame& frame, Sink& sink) {
  CountingSink counted(sink);
  ZstdFrameScanner scanner;
  HYDRANT_ASSIGN_OR_RETURN(const auto decoder, ZstdDecoder(counted));
  std::string block;
  const uint64_t end = frame.offset + frame.compressed_size;
  for (uint64_t at = frame.offset; at < end; at += block.size()) {
    block.resize(static_cast<size_t>(std::min<uint64_t>(kBlock, end - at)));
    HYDRANT_RETURN_IF_ERROR(file.ReadAt(at, block));
    HYDRANT_RETURN_IF_ERROR(scanner.Write(block));
    HYDRANT_RETURN_IF_ERROR(decoder->Write(block));
    if (counted.count > *frame.content_size) break;
  }
  if (counted.count != *frame.content_size)
    return Bad(absl::StrCat("it holds ", counted.count, " bytes or more"));
  HYDRANT_RETURN_IF_ERROR(decoder->Finish());
  if (scanner.frames().size() != 1 || !scanner.at_frame_end()) return Bad("the bytes are not one frame");
  return absl::OkStatus();
}

std::string Which(const ZstdFrame& frame) {
  return absl::StrCat("frame at offset ", frame.offset, ", by the seek table of ", frame.compressed_size,
                      " bytes for ", *frame.content_size);
}

class ParallelDecoder {
 public:
  ParallelDecoder(const PositionedSource& file, Sink& sink, int threads)
      : file_(file), sink_(sink), most_pending_(static_cast<size_t>(threads) + 1), threads_(threads) {}

  absl::Status Decode(std::span<const ZstdFrame> frames) {
    for (const ZstdFrame& frame : frames) {
      if (pending_.size() == most_pending_) HYDRANT_RETURN_IF_ERROR(WriteOldest());
      Start(frame);
    }
    while (!pending_.empty()) HYDRANT_RETURN_IF_ERROR(WriteOldest());
    return absl::OkStatus();
  }

 private:
  struct Pending {
    const ZstdFrame& frame;
    std::unique_ptr<FrameSpace> space;
    std::future<absl::Status> done;
  };

  void Start(const ZstdFrame& frame) {
    auto told = std::make_shared<std::promise<absl::Status>>();
    auto space = spare_ != nullptr ? std::move(spare_) : std::make_unique<FrameSpace>();
    FrameSpace& used = *space;
    pending_.push_back({frame, std::move(space), told->get_future()});
    threads_.Add([this, told, &used, &frame] { told->set_value(used.Decode(file_, frame)); });
  }

  absl::Status WriteOldest() {
    Pending oldest = std::move(pending_.front());
    pending_.pop_front();
    if (const absl::Status status = oldest.done.get(); !status.ok())
      return Annotate(status, Which(oldest.frame));
    HYDRANT_RETURN_IF_ERROR(sink_.Write(oldest.space->content()));
    spare_ = std::move(oldest.space);
    return absl::OkStatus();
  }

  const PositionedSource& file_;
  Sink& sink_;
  const size_t most_pending_;
  std::unique_ptr<FrameSpace> spare_;
  std::deque<Pending> pending_;  // oldest first
  TaskThreads threads_;          // last: goes first, before the frames that it works on
};

bool IsLarge(const ZstdFrame& frame) {
  return frame.compressed_size > kMostParallelFrame || *frame.content_size > kMostParallelFrame;
}

}  // namespace

absl::Status DecodeZstdFile(const PositionedSource& file, Sink& sink, const ZstdDecodeOptions& options) {
  const auto frames = ReadZstdSeekTable(file);
  if (absl::IsNotFound(frames.status()) && options.first_frame == 0) return DecodeWithoutTable(file, sink);
  HYDRANT_RETURN_IF_ERROR(frames.status());
  if (options.first_frame > 0 && options.first_frame >= frames->size()) {
    return Bad(absl::StrCat("there is no frame ", options.first_frame, ", it has ", frames->size()));
  }
  const auto wanted = std::span<const ZstdFrame>(*frames).subspan(options.first_frame);
  if (options.threads <= 0 || wanted.size() < 2 || std::any_of(wanted.begin(), wanted.end(), IsLarge)) {
    for (const ZstdFrame& frame : wanted) {
      HYDRANT_RETURN_IF_ERROR(Annotate(DecodeFrameInBlocks(file, frame, sink), Which(frame)));
    }
    return absl::OkStatus();
  }
  const int threads = std::min({options.threads, kMostThreads, static_cast<int>(wanted.size())});
  return ParallelDecoder(file, sink, threads).Decode(wanted);
}

}  // namespace hydrant::nix
