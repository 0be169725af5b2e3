#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/decoders.h"

namespace hydrant::nix {
namespace {

constexpr size_t kBlock = 128 << 10;
constexpr size_t kMaxPiece = 1 << 30;  // bzip2 and zlib count in 32 bits

// In words, and what a reader can do about it.
std::string_view XzError(lzma_ret code) {
  switch (code) {
    case LZMA_FORMAT_ERROR:
      return "it, or what follows a stream's end, is no xz stream";
    case LZMA_OPTIONS_ERROR:
      return "it uses a filter that this xz does not know";
    case LZMA_MEMLIMIT_ERROR:
      return "its dictionary needs more than 1 GiB";
    case LZMA_DATA_ERROR:
      return "its data or checksum is damaged";
    default:
      return "the decoder failed";
  }
}

std::string_view Bzip2Error(int code) {
  switch (code) {
    case BZ_DATA_ERROR_MAGIC:
      return "it, or what follows a stream's end, is no bzip2 stream";
    case BZ_DATA_ERROR:
      return "its data or checksum is damaged";
    default:
      return "the decoder failed";
  }
}

class Xz final : public FinishingSink {
 public:
  explicit Xz(Sink& sink) : sink_(sink), out_(kBlock) {}
  ~Xz() override { lzma_end(&stream_); }

  absl::Status Init() {
    const lzma_ret code = lzma_stream_decoder(&stream_, uint64_t{1} << 30, LZMA_CONCATENATED);
    return code == LZMA_OK ? absl::OkStatus() : absl::InternalError(absl::StrCat("xz decoder: code ", code));
  }

  absl::Status Write(std::string_view bytes) override { return Code(bytes, LZMA_RUN); }
  absl::Status Finish() override { return Code({}, LZMA_FINISH); }

 private:
  absl::Status Code(std::string_view bytes, lzma_action action) {
    stream_.next_in = reinterpret_cast<const uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    while (true) {
      stream_.next_out = reinterpret_cast<uint8_t*>(out_.data());
      stream_.avail_out = out_.size();
      const lzma_ret code = lzma_code(&stream_, action);
      const size_t n = out_.size() - stream_.avail_out;
      if (n > 0) HYDRANT_RETURN_IF_ERROR(sink_.Write({out_.data(), n}));
      if (code == LZMA_STREAM_END) return absl::OkStatus();
      if (code == LZMA_BUF_ERROR && action == LZMA_FINISH) return TruncatedStream("xz");
      if (code != LZMA_OK && code != LZMA_BUF_ERROR) return CorruptStream("xz", XzError(code));
      if (action == LZMA_RUN && stream_.avail_in == 0 && stream_.avail_out > 0) return absl::OkStatus();
    }
  }

  Sink& sink_;
  std::vector<char> out_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Bzip2 final : public FinishingSink {
 public:
  explicit Bzip2(Sink& sink) : sink_(sink), out_(kBlock) {}
  ~Bzip2() override {
    if (open_) BZ2_bzDecompressEnd(&stream_);
  }

  absl::Status Write(std::string_view bytes) override {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMaxPiece))) {
      HYDRANT_RETURN_IF_ERROR(WritePiece(bytes.substr(0, kMaxPiece)));
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override { return ended_once_ && !open_ ? absl::OkStatus() : TruncatedStream("bzip2"); }

 private:
  absl::Status WritePiece(std::string_view bytes) {
    stream_.next_in = const_cast<char*>(bytes.data());
    stream_.avail_in = static_cast<unsigned>(bytes.size());
    bool more = !bytes.empty();
    while (more) {
      if (!open_) {
        if (const int code = BZ2_bzDecompressInit(&stream_, 0, 0); code != BZ_OK)
          return CorruptStream("bzip2", Bzip2Error(code));
        open_ = true;
      }
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<unsigned>(out_.size());
      const int code = BZ2_bzDecompress(&stream_);
      if (code != BZ_OK && code != BZ_STREAM_END) return CorruptStream("bzip2", Bzip2Error(code));
      const size_t n = out_.size() - stream_.avail_out;
      if (n > 0) HYDRANT_RETURN_IF_ERROR(sink_.Write({out_.data(), n}));
      if (code == BZ_STREAM_END) {
        BZ2_bzDecompressEnd(&stream_);
        open_ = false;
        ended_once_ = true;
      }
      more = stream_.avail_in > 0 || (open_ && stream_.avail_out == 0);
    }
    return absl::OkStatus();
  }

  Sink& sink_;
  std::vector<char> out_;
  bz_stream stream_{};
  bool open_ = false, ended_once_ = false;
};

class Gzip final : public FinishingSink {
 public:
  explicit Gzip(Sink& sink) : sink_(sink), out_(kBlock) {}
  ~Gzip() override { inflateEnd(&stream_); }

  absl::Status Init() {
    const int code = inflateInit2(&stream_, 15 + 16);
    return code == Z_OK ? absl::OkStatus() : absl::InternalError(absl::StrCat("gzip decoder: code ", code));
  }

  absl::Status Write(std::string_view bytes) override {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMaxPiece))) {
      HYDRANT_RETURN_IF_ERROR(WritePiece(bytes.substr(0, kMaxPiece)));
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override { return ended_ ? absl::OkStatus() : TruncatedStream("gzip"); }

 private:
  absl::Status WritePiece(std::string_view bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    bool more = !bytes.empty();
    while (more) {
      if (ended_ && stream_.avail_in > 0) {
        inflateReset(&stream_);
        ended_ = false;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return CorruptStream("gzip", stream_.msg != nullptr ? stream_.msg : "the decoder failed");
      }
      const size_t n = out_.size() - stream_.avail_out;
      if (n > 0) HYDRANT_RETURN_IF_ERROR(sink_.Write({out_.data(), n}));
      ended_ = code == Z_STREAM_END;
      more = stream_.avail_in > 0 || (!ended_ && stream_.avail_out == 0);
    }
    return absl::OkStatus();
  }

  Sink& sink_;
  std::vector<char> out_;
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FinishingSink>> XzDecoder(Sink& sink) {
  auto decoder = std::make_unique<Xz>(sink);
  HYDRANT_RETURN_IF_ERROR(decoder->Init());
  return decoder;
}

absl::StatusOr<std::unique_ptr<FinishingSink>> Bzip2Decoder(Sink& sink) {
  return std::make_unique<Bzip2>(sink);
}

absl::StatusOr<std::unique_ptr<FinishingSink>> GzipDecoder(Sink& sink) {
  auto decoder = std::make_unique<Gzip>(sink);
  HYDRANT_RETURN_IF_ERROR(decoder->Init());
  return decoder;
}

}  // namespace hydrant::nix
