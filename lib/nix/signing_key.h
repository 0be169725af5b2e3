// Ed25519 keys in Nix's format, "name:base64". libsodium does the work; comparisons are in constant time.
#ifndef HYDRANT_LIB_NIX_SIGNING_KEY_H_
#define HYDRANT_LIB_NIX_SIGNING_KEY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hydrant::nix {

class PublicKey {
 public:
  static absl::StatusOr<PublicKey> Parse(std::string_view text);
  const std::string& name() const { return name_; }
  std::string ToString() const;  // name:base64 of 32 bytes
  // True when `signature` ("name:base64") bears this key's name and is its signature of `text`.
  bool Verify(std::string_view text, std::string_view signature) const;

 private:
  friend class SecretKey;
  std::string name_, bytes_;
};

class SecretKey {
 public:
  static SecretKey Generate(std::string_view name);
  // Errors never quote the text.
  static absl::StatusOr<SecretKey> Parse(std::string_view text);
  ~SecretKey();
  SecretKey(SecretKey&&) = default;
  SecretKey& operator=(SecretKey&& other) noexcept {
    name_.swap(other.name_);
    bytes_.swap(other.bytes_);  // ours is wiped when `other` goes
    return *this;
  }

  const std::string& name() const { return name_; }
  PublicKey public_key() const;
  std::string ToString() const;  // the secret itself: only for the key file
  std::string Sign(std::string_view text) const;  // "name:base64"

 private:
  SecretKey() = default;
  std::string name_, bytes_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_SIGNING_KEY_H_
