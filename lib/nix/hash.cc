#include "lib/nix/hash.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdfghijklmnpqrsvwxyz";

constexpr std::array<int, 256> DigitValues() {
  std::array<int, 256> values{};
  for (auto& value : values) value = -1;
  for (size_t i = 0; i < kAlphabet.size(); ++i) values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int>(i);
  return values;
}
constexpr std::array<int, 256> kDigit = DigitValues();

absl::Status BadHash(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("hash \"", absl::CHexEscape(AbslView(text)), "\": ", AbslView(why)));
}

bool IsHex(std::string_view text) {
  for (const char c : text) {
    if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) return false;
  }
  return true;
}

absl::StatusOr<std::string> DecodeDigits(std::string_view digits, bool must_be_base64,
                                         std::string_view text) {
  std::string bytes;
  if (!must_be_base64 && digits.size() == 64 && IsHex(digits))
    return absl::HexStringToBytes(AbslView(digits));
  if (!must_be_base64 && digits.size() == 52) return FromBase32(digits, 32);
  if (digits.size() == 44 && digits.back() == '=' && absl::Base64Unescape(AbslView(digits), &bytes) &&
      bytes.size() == 32) {
    return bytes;
  }
  return BadHash(text, must_be_base64 ? "expected 44 base64 characters after sha256-"
                                      : "expected a SHA-256 of 52 base32, 64 base16 or 44 base64 characters");
}

}  // namespace

std::string ToBase32(std::string_view bytes) {
  const size_t length = (bytes.size() * 8 + 4) / 5;
  std::string out(length, '0');
  for (size_t n = 0; n < length; ++n) {
    const size_t bit = n * 5, i = bit / 8, shift = bit % 8;
    const unsigned low = static_cast<unsigned char>(bytes[i]);
    const unsigned high = i + 1 < bytes.size() ? static_cast<unsigned char>(bytes[i + 1]) : 0;
    out[length - 1 - n] = kAlphabet[((low | high << 8) >> shift) & 31];
  }
  return out;
}

absl::StatusOr<std::string> FromBase32(std::string_view text, size_t bytes) {
  if (text.size() != (bytes * 8 + 4) / 5) {
    return BadHash(text,
                   absl::StrCat("expected ", (bytes * 8 + 4) / 5, " base32 characters, got ", text.size()));
  }
  std::string out(bytes, '\0');
  for (size_t n = 0; n < text.size(); ++n) {
    const char c = text[text.size() - 1 - n];
    const int digit = kDigit[static_cast<unsigned char>(c)];
    if (digit < 0) return BadHash(text, "a character is not of Nix's base32 alphabet (no e, o, t, u)");
    const size_t bit = n * 5, i = bit / 8, shift = bit % 8;
    const unsigned value = static_cast<unsigned>(digit) << shift;
    out[i] = static_cast<char>(out[i] | (value & 255));
    if (value >> 8 == 0) continue;
    if (i + 1 >= bytes) return BadHash(text, "bits are set beyond the end of the hash");
    out[i + 1] = static_cast<char>(out[i + 1] | (value >> 8));
  }
  return out;
}

std::string Sha256Digest::ToBase32() const { return nix::ToBase32(view()); }
std::string Sha256Digest::ToBase16() const { return absl::BytesToHexString(AbslView(view())); }
std::string Sha256Digest::ToSri() const {
  return absl::StrCat("sha256-", absl::Base64Escape(AbslView(view())));
}
std::string Sha256Digest::ToNixString() const { return absl::StrCat("sha256:", ToBase32()); }

absl::StatusOr<Sha256Digest> Sha256Digest::Parse(std::string_view text) {
  std::string_view digits = text;
  const bool sri = digits.starts_with("sha256-");
  if (sri || digits.starts_with("sha256:")) {
    digits.remove_prefix(7);
  } else if (const size_t mark = digits.find_first_of(":-"); mark != std::string_view::npos) {
    return BadHash(text, "expected algorithm sha256");
  }
  HYDRANT_ASSIGN_OR_RETURN(const std::string bytes, DecodeDigits(digits, sri, text));
  Sha256Digest digest;
  bytes.copy(reinterpret_cast<char*>(digest.bytes.data()), digest.bytes.size());
  return digest;
}

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}
Sha256::~Sha256() = default;

absl::Status Sha256::Write(std::string_view bytes) {
  size_ += bytes.size();
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1)
    return absl::InternalError("SHA-256 failed");
  return absl::OkStatus();
}

Sha256Digest Sha256::Finish() {
  Sha256Digest digest;
  EVP_DigestFinal_ex(state_->context, digest.bytes.data(), nullptr);
  return digest;
}

Sha256Digest HashSha256(std::string_view bytes) {
  Sha256Digest digest;
  EVP_Digest(bytes.data(), bytes.size(), digest.bytes.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

}  // namespace hydrant::nix
