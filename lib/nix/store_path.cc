#include "lib/nix/store_path.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr size_t kMaxNameLength = 211;

absl::Status Bad(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("store path \"", absl::CHexEscape(AbslView(text.substr(0, 300))), "\": ", AbslView(why)));
}

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("+-._?=").find(c) != std::string_view::npos;
}

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
    if (!IsNameCharacter(c)) return Bad(text, "a name holds only letters, digits and +-._?=");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsHashPart(std::string_view text) {
  if (text.size() != kHashPartLength) return false;
  for (const char c : text) {
    const bool letter = c >= 'a' && c <= 'z' && c != 'e' && c != 'o' && c != 't' && c != 'u';
    if (!letter && !(c >= '0' && c <= '9')) return false;
  }
  return true;
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
