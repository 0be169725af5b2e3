#include "daemon/evaluate/sealed_text.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/base/stream.h"
#include "lib/nix/compression.h"
#include "lib/nix/hash.h"

namespace hydrant {
namespace {

constexpr size_t kHashSize = 32;
constexpr size_t kMaxContent = 256 << 20;  // bytes, decompressed

class BoundedSink final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override {
    if (value.size() + bytes.size() > kMaxContent) return absl::DataLossError("too large");
    value.append(bytes);
    return absl::OkStatus();
  }
  std::string value;
};

}  // namespace

absl::StatusOr<std::string> SealText(const Seal& seal, std::string_view text) {
  StringSink body;
  HYDRANT_ASSIGN_OR_RETURN(const auto compressor, nix::ZstdCompressor(body));
  HYDRANT_RETURN_IF_ERROR(compressor->Write(text));
  HYDRANT_RETURN_IF_ERROR(compressor->Finish());
  return absl::StrCat(AbslView(seal.magic), std::string(1, seal.version),
                      AbslView(nix::HashSha256(body.value).view()), body.value);
}

absl::StatusOr<std::string> UnsealText(const Seal& seal, std::string_view bytes) {
  const size_t header = seal.magic.size() + 1 + kHashSize;
  if (bytes.size() < header || !bytes.starts_with(seal.magic)) return absl::DataLossError("no evaluation");
  if (bytes[seal.magic.size()] != seal.version) return absl::DataLossError("another version's");
  const std::string_view body = bytes.substr(header);
  if (nix::HashSha256(body).view() != bytes.substr(seal.magic.size() + 1, kHashSize)) {
    return absl::DataLossError("its bytes are not those that were written");
  }
  BoundedSink content;
  HYDRANT_ASSIGN_OR_RETURN(const auto decompressor, nix::Decompressor("zstd", content));
  HYDRANT_RETURN_IF_ERROR(decompressor->Write(body));
  HYDRANT_RETURN_IF_ERROR(decompressor->Finish());
  return std::move(content.value);
}

}  // namespace hydrant
