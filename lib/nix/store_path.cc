#include "lib/nix/store_path.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"

namespace hydrant::nix {
namespace {

constexpr size_t kMaxNameLength = 211;

absl::Status Bad(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("store path \"", absl::CHexEscape(AbslView(text.substr(0, 300))), "\": ", AbslView(why)));
}

// What a byte may be: a lookup each, because every path of every derivation is checked.
struct ByteFacts {
  int8_t digit = -1;  // its value in Nix's base32
  bool in_name = false;
};
constexpr std::array<ByteFacts, 256> kBytes = [] {
  std::array<ByteFacts, 256> facts{};
  int8_t value = 0;
  for (const char c : std::string_view("0123456789abcdfghijklmnpqrsvwxyz"))
    facts[static_cast<unsigned char>(c)].digit = value++;
  for (int c = 0; c < 256; ++c) {
    facts[c].in_name = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  for (const char c : std::string_view("+-._?=")) facts[static_cast<unsigned char>(c)].in_name = true;
  return facts;
}();
const ByteFacts& FactsOf(char c) { return kBytes[static_cast<unsigned char>(c)]; }

absl::Status CheckBaseName(std::string_view base_name, std::string_view text) {
  if (!IsHashPart(base_name.substr(0, kHashPartLength))) {
    return Bad(
        text,
        "expected 32 characters of Nix's base32 alphabet (no e, o, t, u) at the start of the base name");
  }
  if (base_name.size() <= kHashPartLength || base_name[kHashPartLength] != '-') {
    return Bad(text, "expected \"-\" and a name after the hash");
  }
  const std::string_view name = base_name.substr(kHashPartLength + 1);
  if (name.empty()) return Bad(text, "the name is empty");
  if (name.size() > kMaxNameLength) return Bad(text, "the name is longer than 211 characters");
  if (name.front() == '.') return Bad(text, "the name begins with a dot");
  for (const char c : name) {
    if (!FactsOf(c).in_name) return Bad(text, "a name holds only letters, digits and +-._?=");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsHashPart(std::string_view text) {
  if (text.size() != kHashPartLength) return false;
  bool good = true;
  for (const char c : text) good &= FactsOf(c).digit >= 0;
  return good;
}

// Eight characters are five bytes; both run backwards (see hash.h).
HashPart DecodeHashPart(std::string_view text) {
  HashPart part{};
  for (size_t group = 0; group < kHashPartLength / 8; ++group) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) {
      bits =
          bits << 5 | static_cast<uint64_t>(FactsOf(text[kHashPartLength - 8 * (group + 1) + i]).digit & 31);
    }
    for (size_t i = 0; i < 5; ++i) part[group * 5 + i] = static_cast<uint8_t>(bits >> (8 * i));
  }
  return part;
}

std::string EncodeHashPart(const HashPart& part) {
  return ToBase32({reinterpret_cast<const char*>(part.data()), part.size()});
}

absl::Status CheckStorePath(std::string_view path) {
  if (!path.starts_with(kStoreDir) || path.size() <= kStoreDir.size() || path[kStoreDir.size()] != '/') {
    return Bad(path, "expected /nix/store/<hash>-<name>");
  }
  return CheckBaseName(path.substr(kStoreDir.size() + 1), path);
}

absl::StatusOr<StorePath> StorePath::Parse(std::string_view path) {
  HYDRANT_RETURN_IF_ERROR(CheckStorePath(path));
  return StorePath(std::string(path));
}

absl::StatusOr<StorePath> StorePath::FromBaseName(std::string_view base_name) {
  HYDRANT_RETURN_IF_ERROR(CheckBaseName(base_name, base_name));
  return StorePath(absl::StrCat(AbslView(kStoreDir), "/", AbslView(base_name)));
}

}  // namespace hydrant::nix
