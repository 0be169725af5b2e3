#include <zstd.h>

#include <algorithm>
#include <deque>
#include <future>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"
#include "lib/nix/task_threads.h"
#include "lib/nix/zstd_frames.h"

namespace hydrant::nix {
namespace {

constexpr int kMostThreads = 64;

absl::Status Check(size_t result) {
  if (ZSTD_isError(result) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("zstd compression: ", ZSTD_getErrorName(result)));
}

// What one frame needs, used again for a later one. Its pages are touched only as far as the frame is long.
class FrameSpace {
 public:
  explicit FrameSpace(int level)
      : in_(new char[kZstdFrameContent]), out_(new char[ZSTD_compressBound(kZstdFrameContent)]) {
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ~FrameSpace() { ZSTD_freeCCtx(context_); }

  size_t size() const { return size_; }
  bool full() const { return size_ == kZstdFrameContent; }
  // Takes what fits; how much that was.
  size_t Take(std::string_view bytes) {
    const size_t n = bytes.copy(&in_[size_], kZstdFrameContent - size_);
    size_ += n;
    return n;
  }
  void Clear() { size_ = 0; }

  // The whole frame in one call: its bytes follow from its content and the level alone.
  absl::Status Compress() {
    compressed_ =
        ZSTD_compress2(context_, out_.get(), ZSTD_compressBound(kZstdFrameContent), in_.get(), size_);
    return Check(compressed_);
  }
  std::string_view compressed() const { return {out_.get(), compressed_}; }

 private:
  const std::unique_ptr<char[]> in_, out_;
  ZSTD_CCtx* const context_ = ZSTD_createCCtx();
  size_t size_ = 0, compressed_ = 0;
};

class Compressor final : public FinishingSink {
 public:
  Compressor(Sink& sink, int level, int threads, std::vector<ZstdFrame> done)
      : sink_(sink), level_(level), thread_count_(threads), frames_(std::move(done)) {
    if (!frames_.empty()) offset_ = frames_.back().offset + frames_.back().compressed_size;
  }

  absl::Status Write(std::string_view bytes) override {
    if (status_.ok()) status_ = Take(bytes);
    return status_;
  }

  absl::Status Finish() override {
    if (status_.ok()) status_ = End();
    return status_;
  }

 private:
  struct Pending {
    std::unique_ptr<FrameSpace> space;
    std::future<absl::Status> done;
  };

  absl::Status Take(std::string_view bytes) {
    while (!bytes.empty()) {
      HYDRANT_RETURN_IF_ERROR(MakeRoom());
      bytes.remove_prefix(filling_->Take(bytes));
      if (filling_->full()) HYDRANT_RETURN_IF_ERROR(Start(/*last=*/false));
    }
    return absl::OkStatus();
  }

  absl::Status End() {
    if (filling_ == nullptr && pending_.empty() && frames_.empty()) HYDRANT_RETURN_IF_ERROR(MakeRoom());
    if (filling_ != nullptr) HYDRANT_RETURN_IF_ERROR(Start(/*last=*/true));
    while (!pending_.empty()) HYDRANT_RETURN_IF_ERROR(WriteOldest());
    return sink_.Write(PrintZstdSeekTable(frames_));
  }

  // Back-pressure: with a frame for each thread under way and one to go on with, the oldest must be written before another is
  // filled.
  absl::Status MakeRoom() {
    if (filling_ != nullptr) return absl::OkStatus();
    if (pending_.size() > static_cast<size_t>(thread_count_) + 1) HYDRANT_RETURN_IF_ERROR(WriteOldest());
    filling_ = spare_ != nullptr ? std::move(spare_) : std::make_unique<FrameSpace>(level_);
    return absl::OkStatus();
  }

  absl::Status Start(bool last) {
    if (frames_.size() + pending_.size() >= kMaxZstdFrames) {
      return absl::OutOfRangeError(absl::StrCat("zstd compression: more than ", kMaxZstdFrames, " frames"));
    }
    FrameSpace& space = *filling_;
    std::promise<absl::Status> done;
    pending_.push_back({std::move(filling_), done.get_future()});
    // What fits into one frame needs no thread.
    if (thread_count_ == 0 || (last && pending_.size() == 1)) {
      done.set_value(space.Compress());
      return WriteOldest();
    }
    if (threads_ == nullptr) threads_ = std::make_unique<TaskThreads>(thread_count_);
    threads_->Add([&space, told = std::make_shared<std::promise<absl::Status>>(std::move(done))] {
      told->set_value(space.Compress());
    });
    return absl::OkStatus();
  }

  absl::Status WriteOldest() {
    Pending oldest = std::move(pending_.front());
    pending_.pop_front();
    HYDRANT_RETURN_IF_ERROR(oldest.done.get());
    const std::string_view bytes = oldest.space->compressed();
    frames_.push_back({offset_, bytes.size(), oldest.space->size()});
    offset_ += bytes.size();
    HYDRANT_RETURN_IF_ERROR(sink_.Write(bytes));
    oldest.space->Clear();
    spare_ = std::move(oldest.space);
    return absl::OkStatus();
  }

  Sink& sink_;
  const int level_, thread_count_;
  absl::Status status_;  // the first failure
  std::unique_ptr<FrameSpace> filling_, spare_;
  std::deque<Pending> pending_;    // oldest first
  std::vector<ZstdFrame> frames_;  // written
  uint64_t offset_ = 0;
  std::unique_ptr<TaskThreads> threads_;  // last: goes first, before the frames that it works on
};

absl::Status CheckDone(std::span<const ZstdFrame> done) {
  uint64_t offset = 0;
  for (const ZstdFrame& frame : done) {
    if (frame.offset != offset || frame.content_size != kZstdFrameContent) {
      return absl::InvalidArgumentError(
          absl::StrCat("zstd compression: cannot go on after a frame at offset ", frame.offset, " with ",
                       frame.content_size.value_or(0), " bytes of content; expected one at ", offset,
                       " with ", kZstdFrameContent));
    }
    offset += frame.compressed_size;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdCompressor(Sink& sink, int level, int threads) {
  return ResumedZstdCompressor(sink, {}, level, threads);
}

absl::StatusOr<std::unique_ptr<FinishingSink>> ResumedZstdCompressor(Sink& sink, std::vector<ZstdFrame> done,
                                                                     int level, int threads) {
  if (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel()) {
    return absl::InvalidArgumentError(absl::StrCat("zstd compression: level ", level, ", expected ",
                                                   ZSTD_minCLevel(), " to ", ZSTD_maxCLevel()));
  }
  HYDRANT_RETURN_IF_ERROR(CheckDone(done));
  return std::make_unique<Compressor>(sink, level, std::clamp(threads, 0, kMostThreads), std::move(done));
}

}  // namespace hydrant::nix
