#include "daemon/cache/blob_store.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"

namespace hydrant {

absl::StatusOr<BlobName> BlobName::Parse(std::string_view file_name) {
  constexpr size_t kHash = 52;
  static const auto& extensions = *new std::set<std::string, std::less<>>{"", ".zst", ".xz", ".bz2", ".gz"};
  const auto bad = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("NAR file name \"", AbslView(file_name), "\": ", AbslView(why)));
  };
  if (file_name.size() < kHash + 4 || file_name.substr(kHash, 4) != ".nar") {
    return bad("expected 52 base32 characters, .nar, and nothing or .zst .xz .bz2 .gz");
  }
  const std::string_view hash = file_name.substr(0, kHash), extension = file_name.substr(kHash + 4);
  if (!nix::FromBase32(hash, 32).ok()) return bad("its first 52 characters are no SHA-256 in Nix's base32");
  if (!extensions.contains(extension))
    return bad("the codec is not taken; use .zst (also .xz .bz2 .gz, or none)");
  return BlobName{std::string(hash), std::string(extension)};
}

}  // namespace hydrant
