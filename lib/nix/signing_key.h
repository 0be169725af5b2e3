// Ed25519 keys in Nix's format, "name:base64". libsodium does the work: what handles a secret takes the same time whatever it
// is, and the secret's bytes are wiped when the key goes. Where a key comes from, and who may read that, is for others.
#ifndef HYDRANT_LIB_NIX_SIGNING_KEY_H_
#define HYDRANT_LIB_NIX_SIGNING_KEY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hydrant::nix {

class PublicKey {
 public:
  // Blanks and newlines at the end do not matter. InvalidArgument says what is wrong with it: empty, no ":", no name, a name with
  // blanks, no base64, a wrong length, a secret key.
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
  // As PublicKey::Parse; also refused is a public half that does not belong to the seed. Errors never quote the secret.
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
  std::string ToString() const;  // the secret itself: only for the key file; wiping it is the caller's
  std::string Sign(std::string_view text) const;  // "name:base64"

 private:
  SecretKey() = default;
  std::string name_, bytes_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_SIGNING_KEY_H_
