#include "lib/nix/compression.h"

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/decoders.h"

namespace hydrant::nix {
namespace {

struct Codec {
  std::string_view name, extension;
};
constexpr std::array<Codec, 8> kCodecs = {{{"none", ""},
                                           {"zstd", ".zst"},
                                           {"xz", ".xz"},
                                           {"bzip2", ".bz2"},
                                           {"gzip", ".gz"},
                                           {"br", ".br"},
                                           {"lz4", ".lz4"},
                                           {"lzip", ".lzip"}}};

class Uncompressed final : public FinishingSink {
 public:
  explicit Uncompressed(Sink& sink) : sink_(sink) {}
  absl::Status Write(std::string_view bytes) override { return sink_.Write(bytes); }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  Sink& sink_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FinishingSink>> Decompressor(std::string_view compression, Sink& sink) {
  if (compression == "none") return std::make_unique<Uncompressed>(sink);
  if (compression == "zstd") return ZstdDecoder(sink);
  if (compression == "xz") return XzDecoder(sink);
  if (compression == "bzip2" || compression.empty()) return Bzip2Decoder(sink);
  if (compression == "gzip") return GzipDecoder(sink);
  if (compression == "br") return BrotliDecoder(sink);
  HYDRANT_RETURN_IF_ERROR(FileExtension(compression).status());
  return absl::UnimplementedError(absl::StrCat("compression ", AbslView(compression),
                                               " is not read here; none, zstd, xz, bzip2, gzip and br are"));
}

absl::StatusOr<std::string> FileExtension(std::string_view compression) {
  for (const Codec& codec : kCodecs) {
    if (codec.name == compression) return std::string(codec.extension);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("compression \"", absl::CHexEscape(AbslView(compression)),
                   "\": expected none, zstd, xz, bzip2, gzip, br, lz4 or lzip"));
}

absl::StatusOr<std::string> CompressionOfExtension(std::string_view extension) {
  for (const Codec& codec : kCodecs) {
    if (codec.extension == extension) return std::string(codec.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("file extension \"", absl::CHexEscape(AbslView(extension)),
                   "\": expected nothing, .zst, .xz, .bz2, .gz, .br, .lz4 or .lzip"));
}

}  // namespace hydrant::nix
