// A path of the Nix store: /nix/store/<32 base32 characters>-<name>. Knows nothing of what lies there.
#ifndef HYDRANT_LIB_NIX_STORE_PATH_H_
#define HYDRANT_LIB_NIX_STORE_PATH_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hydrant::nix {

inline constexpr std::string_view kStoreDir = "/nix/store";
inline constexpr size_t kHashPartLength = 32;

// 32 characters of Nix's base32 alphabet.
bool IsHashPart(std::string_view text);

// The bytes of a hash part and back: a compact key for a path. `text` is one (IsHashPart).
using HashPart = std::array<uint8_t, 20>;
HashPart DecodeHashPart(std::string_view text);
std::string EncodeHashPart(const HashPart& part);

// What StorePath::Parse checks, without making one.
absl::Status CheckStorePath(std::string_view path);

class StorePath {
 public:
  // No path: all parts empty. For members that are filled later.
  StorePath() = default;
  // "/nix/store/<hash>-<name>", nothing below it. InvalidArgument says which part is wrong. Names: 1 to 211
  // characters of [0-9a-zA-Z+-._?=], no leading dot.
  static absl::StatusOr<StorePath> Parse(std::string_view path);
  // "<hash>-<name>", as narinfos write references.
  static absl::StatusOr<StorePath> FromBaseName(std::string_view base_name);

  const std::string& path() const { return path_; }
  bool empty() const { return path_.empty(); }
  std::string_view base_name() const { return From(kStoreDir.size() + 1); }
  std::string_view hash_part() const { return base_name().substr(0, kHashPartLength); }
  std::string_view name() const { return From(kStoreDir.size() + 1 + kHashPartLength + 1); }
  bool is_derivation() const { return path_.ends_with(".drv"); }

  friend bool operator==(const StorePath&, const StorePath&) = default;
  friend auto operator<=>(const StorePath&, const StorePath&) = default;

 private:
  explicit StorePath(std::string path) : path_(std::move(path)) {}
  std::string_view From(size_t offset) const {
    return path_.empty() ? std::string_view() : std::string_view(path_).substr(offset);
  }
  std::string path_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_STORE_PATH_H_
