#include <brotli/decode.h>

#include <vector>

#include "lib/base/status_macros.h"
#include "lib/nix/decoders.h"

namespace hydrant::nix {
namespace {

constexpr size_t kBlock = 128 << 10;

// One stream: the format has no mark by which a second one could be told from rubbish. The window is at most
// 16 MiB, as the large-window variant is off.
class Brotli final : public FinishingSink {
 public:
  explicit Brotli(Sink& sink) : sink_(sink), out_(kBlock) {}
  ~Brotli() override { BrotliDecoderDestroyInstance(state_); }

  absl::Status Write(std::string_view bytes) override {
    const auto* next_in = reinterpret_cast<const uint8_t*>(bytes.data());
    size_t left = bytes.size();
    bool more = left > 0;
    while (more) {
      if (ended_) return absl::InvalidArgumentError("br stream: more bytes follow its end");
      auto* next_out = reinterpret_cast<uint8_t*>(out_.data());
      size_t room = out_.size();
      const BrotliDecoderResult result =
          BrotliDecoderDecompressStream(state_, &left, &next_in, &room, &next_out, nullptr);
      if (result == BROTLI_DECODER_RESULT_ERROR) {
        return CorruptStream("br", BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state_)));
      }
      if (room < out_.size()) HYDRANT_RETURN_IF_ERROR(sink_.Write({out_.data(), out_.size() - room}));
      ended_ = result == BROTLI_DECODER_RESULT_SUCCESS;
      more = left > 0 || result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    return ended_ ? absl::OkStatus() : TruncatedStream("br");
  }

 private:
  Sink& sink_;
  std::vector<char> out_;
  BrotliDecoderState* const state_ = BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
  bool ended_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FinishingSink>> BrotliDecoder(Sink& sink) {
  return std::make_unique<Brotli>(sink);
}

}  // namespace hydrant::nix
