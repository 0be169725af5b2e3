#include <zstd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/decoders.h"

namespace hydrant::nix {
namespace {

constexpr size_t kFrameInput = 16 << 20;
constexpr int kMaxWindowLog = 27;

absl::Status Check(size_t result, std::string_view what) {
  if (ZSTD_isError(result) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(AbslView(what), ": ", ZSTD_getErrorName(result)));
}

class Compressor final : public FinishingSink {
 public:
  explicit Compressor(Sink& sink) : sink_(sink), out_(ZSTD_CStreamOutSize()) {}
  ~Compressor() override { ZSTD_freeCCtx(context_); }

  absl::Status Configure(int level, int threads) {
    const auto set = [&](ZSTD_cParameter name, int value) {
      return Check(ZSTD_CCtx_setParameter(context_, name, value), "zstd compression");
    };
    HYDRANT_RETURN_IF_ERROR(set(ZSTD_c_compressionLevel, level));
    HYDRANT_RETURN_IF_ERROR(set(ZSTD_c_checksumFlag, 1));
    if (threads <= 0) return absl::OkStatus();
    HYDRANT_RETURN_IF_ERROR(set(ZSTD_c_nbWorkers, threads));
    return set(ZSTD_c_jobSize, kFrameInput / 4);
  }

  absl::Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const size_t n = std::min(bytes.size(), kFrameInput - in_frame_);
      in_frame_ += n;
      HYDRANT_RETURN_IF_ERROR(
          Compress(bytes.substr(0, n), in_frame_ == kFrameInput ? ZSTD_e_end : ZSTD_e_continue));
      if (in_frame_ == kFrameInput) in_frame_ = 0;
      wrote_frame_ = true;
      bytes.remove_prefix(n);
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    return in_frame_ == 0 && wrote_frame_ ? absl::OkStatus() : Compress({}, ZSTD_e_end);
  }

 private:
  absl::Status Compress(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_, &out, &in, directive);
      HYDRANT_RETURN_IF_ERROR(Check(left, "zstd compression"));
      if (out.pos > 0) HYDRANT_RETURN_IF_ERROR(sink_.Write({out_.data(), out.pos}));
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) return absl::OkStatus();
    }
  }

  Sink& sink_;
  ZSTD_CCtx* context_ = ZSTD_createCCtx();
  std::vector<char> out_;
  size_t in_frame_ = 0;
  bool wrote_frame_ = false;
};

class Decoder final : public FinishingSink {
 public:
  explicit Decoder(Sink& sink) : sink_(sink), out_(ZSTD_DStreamOutSize()) {
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~Decoder() override { ZSTD_freeDCtx(context_); }

  absl::Status Write(std::string_view bytes) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    bool out_was_full = false;
    while (in.pos < in.size || out_was_full) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const size_t hint = ZSTD_decompressStream(context_, &out, &in);
      HYDRANT_RETURN_IF_ERROR(Check(hint, "zstd stream"));
      at_frame_end_ = hint == 0;
      out_was_full = out.pos == out.size && hint != 0;
      if (out.pos > 0) HYDRANT_RETURN_IF_ERROR(sink_.Write({out_.data(), out.pos}));
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    return at_frame_end_ ? absl::OkStatus() : absl::InvalidArgumentError("zstd stream: it ends too early");
  }

 private:
  Sink& sink_;
  ZSTD_DCtx* context_ = ZSTD_createDCtx();
  std::vector<char> out_;
  bool at_frame_end_ = false;  // no frame at all is too early as well
};

}  // namespace

absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdCompressor(Sink& sink, int level, int threads) {
  auto compressor = std::make_unique<Compressor>(sink);
  HYDRANT_RETURN_IF_ERROR(compressor->Configure(level, threads));
  return compressor;
}

absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdDecoder(Sink& sink) {
  return std::make_unique<Decoder>(sink);
}

}  // namespace hydrant::nix
