#include "lib/nix/signing_key.h"

#include <sodium.h>

#include <cstdlib>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

void InitSodium() {
  static const int initialised = sodium_init();
  if (initialised < 0) std::abort();  // no source of randomness: no key or signature can be trusted
}

unsigned char* Bytes(std::string& s) { return reinterpret_cast<unsigned char*>(s.data()); }
const unsigned char* Bytes(std::string_view s) { return reinterpret_cast<const unsigned char*>(s.data()); }

void Wipe(std::string& s) { sodium_memzero(s.data(), s.size()); }

// base64 by libsodium, whose decoder does not branch on the bytes.
std::string ToBase64(std::string_view bytes) {
  std::string out(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), Bytes(bytes), bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  out.pop_back();  // its final NUL
  return out;
}

// nullopt when it is none. What is left in memory is wiped.
std::optional<std::string> FromBase64(std::string_view text) {
  std::string out(text.size(), '\0');
  size_t length = 0;
  // libsodium's list of bytes to skip ends with a NUL, and it would skip NULs too.
  const bool good = text.find('\0') == std::string_view::npos &&
                    sodium_base642bin(Bytes(out), out.size(), text.data(), text.size(), "\n", &length,
                                      nullptr, sodium_base64_VARIANT_ORIGINAL) == 0;
  std::optional<std::string> result;
  if (good) result = out.substr(0, length);
  Wipe(out);
  return result;
}

struct NamedBytes {
  std::string name, bytes;
};

// Where a name ought to stand may stand the secret: what is as long as one is not told.
constexpr size_t kLongestToldName = 40;

absl::Status Bad(std::string_view what, std::string_view name, std::string_view why) {
  const std::string told = name.empty() || name.size() > kLongestToldName
                               ? std::string()
                               : absl::StrCat(" \"", absl::CHexEscape(AbslView(name)), "\"");
  return absl::InvalidArgumentError(absl::StrCat(AbslView(what), told, ": ", AbslView(why)));
}

absl::StatusOr<NamedBytes> ParseNamed(std::string_view text, size_t length, std::string_view what) {
  InitSodium();
  if (text.empty()) return Bad(what, "", "it is empty, expected \"name:base64\"");
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Bad(what, "", "there is no \":\", expected \"name:base64\"");
  const std::string_view name = text.substr(0, colon);
  if (name.empty()) return Bad(what, "", "the name before the \":\" is empty");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F)
      return Bad(what, "", "the name holds a blank or control character");
  }
  std::optional<std::string> bytes = FromBase64(text.substr(colon + 1));
  if (!bytes) return Bad(what, name, "what follows the \":\" is no base64");
  if (bytes->size() != length) {
    const size_t got = bytes->size();
    Wipe(*bytes);
    std::string_view hint;
    if (length == crypto_sign_SECRETKEYBYTES && got == crypto_sign_PUBLICKEYBYTES)
      hint = ": this is a public key";
    if (length == crypto_sign_PUBLICKEYBYTES && got == crypto_sign_SECRETKEYBYTES)
      hint = ": this is a secret key";
    return Bad(
        what, name,
        absl::StrCat("expected the base64 of ", length, " bytes after the \":\", got ", got, AbslView(hint)));
  }
  return NamedBytes{std::string(name), *std::move(bytes)};
}

std::string_view WithoutTrailingBlanks(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  return text;
}

}  // namespace

absl::StatusOr<PublicKey> PublicKey::Parse(std::string_view text) {
  HYDRANT_ASSIGN_OR_RETURN(NamedBytes named,
                           ParseNamed(WithoutTrailingBlanks(text), crypto_sign_PUBLICKEYBYTES, "public key"));
  PublicKey key;
  key.name_ = std::move(named.name);
  key.bytes_ = std::move(named.bytes);
  return key;
}

std::string PublicKey::ToString() const { return absl::StrCat(name_, ":", ToBase64(bytes_)); }

bool PublicKey::Verify(std::string_view text, std::string_view signature) const {
  if (bytes_.size() != crypto_sign_PUBLICKEYBYTES) return false;
  const auto named = ParseNamed(signature, crypto_sign_BYTES, "signature");
  return named.ok() && named->name == name_ &&
         crypto_sign_verify_detached(Bytes(std::string_view(named->bytes)), Bytes(text), text.size(),
                                     Bytes(std::string_view(bytes_))) == 0;
}

SecretKey SecretKey::Generate(std::string_view name) {
  InitSodium();
  SecretKey key;
  key.name_ = name;
  key.bytes_.resize(crypto_sign_SECRETKEYBYTES);
  unsigned char public_bytes[crypto_sign_PUBLICKEYBYTES];
  crypto_sign_keypair(public_bytes, Bytes(key.bytes_));
  return key;
}

absl::StatusOr<SecretKey> SecretKey::Parse(std::string_view text) {
  HYDRANT_ASSIGN_OR_RETURN(NamedBytes named,
                           ParseNamed(WithoutTrailingBlanks(text), crypto_sign_SECRETKEYBYTES, "secret key"));
  // The public half is not free: a signature made with a foreign one would leak the seed.
  unsigned char public_bytes[crypto_sign_PUBLICKEYBYTES];
  std::string derived(crypto_sign_SECRETKEYBYTES, '\0');
  crypto_sign_seed_keypair(public_bytes, Bytes(derived), Bytes(std::string_view(named.bytes)));
  const bool same = sodium_memcmp(derived.data(), named.bytes.data(), derived.size()) == 0;
  Wipe(derived);
  SecretKey key;
  key.name_ = std::move(named.name);
  key.bytes_ = std::move(named.bytes);
  if (!same) {
    return Bad("secret key", key.name_, "its public half does not belong to its seed");
  }
  return key;
}

SecretKey::~SecretKey() { Wipe(bytes_); }

PublicKey SecretKey::public_key() const {
  PublicKey key;
  key.name_ = name_;
  key.bytes_ = bytes_.substr(crypto_sign_SEEDBYTES);
  return key;
}

std::string SecretKey::ToString() const { return absl::StrCat(name_, ":", ToBase64(bytes_)); }

std::string SecretKey::Sign(std::string_view text) const {
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(Bytes(signature), nullptr, Bytes(text), text.size(), Bytes(std::string_view(bytes_)));
  return absl::StrCat(name_, ":", ToBase64(signature));
}

}  // namespace hydrant::nix
