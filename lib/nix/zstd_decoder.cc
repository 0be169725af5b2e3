#include <zstd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/decoders.h"

namespace hydrant::nix {
namespace {

constexpr int kMaxWindowLog = 27;

absl::Status Check(size_t result) {
  if (ZSTD_isError(result) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("zstd stream: ", ZSTD_getErrorName(result)));
}

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
      HYDRANT_RETURN_IF_ERROR(Check(hint));
      at_frame_end_ = hint == 0;
      out_was_full = out.pos == out.size && hint != 0;
      if (out.pos > 0) HYDRANT_RETURN_IF_ERROR(sink_.Write({out_.data(), out.pos}));
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    return at_frame_end_ ? absl::OkStatus() : TruncatedStream("zstd");
  }

 private:
  Sink& sink_;
  ZSTD_DCtx* context_ = ZSTD_createDCtx();
  std::vector<char> out_;
  bool at_frame_end_ = false;  // no frame at all is too early as well
};

}  // namespace

absl::StatusOr<std::unique_ptr<FinishingSink>> ZstdDecoder(Sink& sink) {
  return std::make_unique<Decoder>(sink);
}

}  // namespace hydrant::nix
