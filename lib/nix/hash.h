// Hashes as Nix writes them: base32, base16, SRI. Rules: Nix's libutil/hash; the base32 digits run from the
// last character backwards, five bits each, little-endian, over the alphabet without e, o, t, u.
#ifndef HYDRANT_LIB_NIX_HASH_H_
#define HYDRANT_LIB_NIX_HASH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lib/base/stream.h"

namespace hydrant::nix {

std::string ToBase32(std::string_view bytes);
// InvalidArgument on a foreign character, a wrong length or set bits beyond the end.
absl::StatusOr<std::string> FromBase32(std::string_view text, size_t bytes);

// Nix's libutil, hash.hh. BLAKE3 is read and written, but not computed (newer Nix has it).
enum class HashAlgorithm : uint8_t { kMd5, kSha1, kSha256, kSha512, kBlake3 };
std::string_view HashAlgorithmName(HashAlgorithm algorithm);  // "md5", …
size_t HashSize(HashAlgorithm algorithm);                     // bytes
absl::StatusOr<HashAlgorithm> ParseHashAlgorithm(
    std::string_view name);  // InvalidArgument names those that there are

// A digest of any of Nix's algorithms.
struct Hash {
  HashAlgorithm algorithm = HashAlgorithm::kSha256;
  std::array<uint8_t, 64> bytes{};  // the first HashSize(algorithm) count; the rest is zero
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), HashSize(algorithm)}; }
  std::string ToBase16() const;
  std::string ToBase32() const;
  std::string ToSri() const;        // sha512-<base64>
  std::string ToNixString() const;  // sha512:<base32>
  // Reads base16, base32 or base64, told apart by length.
  static absl::StatusOr<Hash> ParseDigits(HashAlgorithm algorithm, std::string_view digits);
  // Reads "sha512:" and digits, or SRI.
  static absl::StatusOr<Hash> Parse(std::string_view text);
  // Unimplemented for BLAKE3.
  static absl::StatusOr<Hash> Of(HashAlgorithm algorithm, std::string_view bytes);
  friend bool operator==(const Hash&, const Hash&) = default;
};

// A SHA-256 digest. Default: all zero.
struct Sha256Digest {
  std::array<uint8_t, 32> bytes{};
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  std::string ToBase32() const;     // 52 characters
  std::string ToBase16() const;     // 64 characters
  std::string ToSri() const;        // sha256-<base64>
  std::string ToNixString() const;  // sha256:<base32>
  // Reads base32, base16 or base64, with or without "sha256:", or SRI.
  static absl::StatusOr<Sha256Digest> Parse(std::string_view text);
  friend bool operator==(const Sha256Digest&, const Sha256Digest&) = default;
  friend auto operator<=>(const Sha256Digest&, const Sha256Digest&) = default;
};

// Hashes what is written to it. One thread.
class Sha256 final : public Sink {
 public:
  Sha256();
  ~Sha256() override;
  absl::Status Write(std::string_view bytes) override;
  Sha256Digest Finish();  // once
  uint64_t size() const { return size_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  uint64_t size_ = 0;
};

Sha256Digest HashSha256(std::string_view bytes);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_HASH_H_
