#include "lib/nix/hash.h"

#include <openssl/evp.h>

#include <optional>

#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdfghijklmnpqrsvwxyz";

constexpr std::array<int, 256> DigitValues() {
  std::array<int, 256> values{};
  for (auto& value : values) value = -1;
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int>(i);
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

std::optional<unsigned> Base64Digit(char c) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t digit = kDigits.find(c);
  return digit == std::string_view::npos ? std::nullopt : std::optional<unsigned>(digit);
}

// As Nix has it: the padding, and what stands behind it, does not matter.
std::optional<std::string> FromBase64(std::string_view text) {
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const auto digit = Base64Digit(c);
    if (!digit) return std::nullopt;
    held = held << 6 | *digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 255);
  }
  return out;
}

struct AlgorithmFacts {
  std::string_view name;
  size_t size;
  const EVP_MD* (*implementation)();
};
constexpr AlgorithmFacts kAlgorithms[] = {{"md5", 16, EVP_md5},
                                          {"sha1", 20, EVP_sha1},
                                          {"sha256", 32, EVP_sha256},
                                          {"sha512", 64, EVP_sha512},
                                          {"blake3", 32, nullptr}};

const AlgorithmFacts& FactsOf(HashAlgorithm algorithm) { return kAlgorithms[static_cast<size_t>(algorithm)]; }

size_t Base32Length(size_t bytes) { return (bytes * 8 + 4) / 5; }
size_t Base64Length(size_t bytes) { return (bytes + 2) / 3 * 4; }

absl::StatusOr<std::string> DecodeDigits(size_t size, std::string_view digits, bool must_be_base64,
                                         std::string_view text) {
  if (!must_be_base64 && digits.size() == size * 2 && IsHex(digits))
    return absl::HexStringToBytes(AbslView(digits));
  if (!must_be_base64 && digits.size() == Base32Length(size)) return FromBase32(digits, size);
  if (must_be_base64 || digits.size() == Base64Length(size)) {
    if (auto bytes = FromBase64(digits); bytes && bytes->size() == size) return *std::move(bytes);
  }
  if (must_be_base64)
    return BadHash(text,
                   absl::StrCat("expected ", Base64Length(size), " base64 characters after the algorithm"));
  return BadHash(text, absl::StrCat("expected ", Base32Length(size), " base32, ", size * 2, " base16 or ",
                                    Base64Length(size), " base64 characters"));
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

std::string_view HashAlgorithmName(HashAlgorithm algorithm) { return FactsOf(algorithm).name; }
size_t HashSize(HashAlgorithm algorithm) { return FactsOf(algorithm).size; }

absl::StatusOr<HashAlgorithm> ParseHashAlgorithm(std::string_view name) {
  for (size_t i = 0; i < std::size(kAlgorithms); ++i) {
    if (kAlgorithms[i].name == name) return static_cast<HashAlgorithm>(i);
  }
  return absl::InvalidArgumentError(absl::StrCat("hash algorithm \"",
                                                 absl::CHexEscape(AbslView(name.substr(0, 50))),
                                                 "\": expected md5, sha1, sha256, sha512 or blake3"));
}

std::string Hash::ToBase16() const { return absl::BytesToHexString(AbslView(view())); }
std::string Hash::ToBase32() const { return nix::ToBase32(view()); }
std::string Hash::ToSri() const {
  return absl::StrCat(AbslView(HashAlgorithmName(algorithm)), "-", absl::Base64Escape(AbslView(view())));
}
std::string Hash::ToNixString() const {
  return absl::StrCat(AbslView(HashAlgorithmName(algorithm)), ":", ToBase32());
}

namespace {

absl::StatusOr<Hash> DecodeHash(HashAlgorithm algorithm, std::string_view digits, bool must_be_base64,
                                std::string_view text) {
  HYDRANT_ASSIGN_OR_RETURN(const std::string bytes,
                           DecodeDigits(HashSize(algorithm), digits, must_be_base64, text));
  Hash hash{.algorithm = algorithm};
  bytes.copy(reinterpret_cast<char*>(hash.bytes.data()), hash.bytes.size());
  return hash;
}

}  // namespace

absl::StatusOr<Hash> Hash::ParseDigits(HashAlgorithm algorithm, std::string_view digits) {
  return DecodeHash(algorithm, digits, /*must_be_base64=*/false, digits);
}

absl::StatusOr<Hash> Hash::Parse(std::string_view text) {
  const size_t mark = text.find_first_of(":-");
  if (mark == text.npos) return BadHash(text, "expected ALGORITHM:HASH or ALGORITHM-BASE64");
  HYDRANT_ASSIGN_OR_RETURN(const HashAlgorithm algorithm, ParseHashAlgorithm(text.substr(0, mark)));
  return DecodeHash(algorithm, text.substr(mark + 1), text[mark] == '-', text);
}

absl::StatusOr<Hash> Hash::Of(HashAlgorithm algorithm, std::string_view bytes) {
  const AlgorithmFacts& facts = FactsOf(algorithm);
  if (facts.implementation == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("hash with ", AbslView(facts.name), ": it is read and written, but not computed"));
  }
  Hash hash{.algorithm = algorithm};
  if (EVP_Digest(bytes.data(), bytes.size(), hash.bytes.data(), nullptr, facts.implementation(), nullptr) !=
      1)
    return absl::InternalError(absl::StrCat("hash with ", AbslView(facts.name), " failed"));
  return hash;
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
  HYDRANT_ASSIGN_OR_RETURN(const std::string bytes, DecodeDigits(32, digits, sri, text));
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
