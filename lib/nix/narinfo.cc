#include "lib/nix/narinfo.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"
#include "lib/nix/content_address.h"

namespace hydrant::nix {
namespace {

constexpr std::array<std::string_view, 8> kCodecs = {"none", "xz", "bzip2", "zstd",
                                                     "gzip", "br", "lz4",   "lzip"};

constexpr size_t kMaxOtherFields = 16, kMaxOtherField = 4096;

absl::Status Bad(std::string_view field, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(AbslView(field), ": ", AbslView(why)));
}

bool IsKnownKey(std::string_view key) {
  for (const std::string_view known : {"StorePath", "URL", "Compression", "FileHash", "FileSize", "NarHash",
                                       "NarSize", "References", "Deriver", "Sig", "CA"}) {
    if (key == known) return true;
  }
  return false;
}

absl::Status ParseSize(std::string_view value, std::string_view field, uint64_t& size) {
  std::string_view digits = value;
  if (digits.starts_with('+')) digits.remove_prefix(1);  // as Nix has it
  const bool all_digits = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!all_digits || !absl::SimpleAtoi(AbslView(digits), &size)) {
    return Bad(field, absl::StrCat("expected a number of bytes, got \"",
                                   absl::CHexEscape(AbslView(value.substr(0, 40))), "\""));
  }
  return absl::OkStatus();
}

// Nix tolerates "//", "/./" and "/../" in it.
absl::Status ParseStorePath(std::string_view value, StorePath& result) {
  std::vector<absl::string_view> parts;
  for (const auto part : absl::StrSplit(AbslView(value), '/', absl::SkipEmpty())) {
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (part != ".") {
      parts.push_back(part);
    }
  }
  const bool absolute = value.starts_with('/');
  auto path = StorePath::Parse(absolute ? absl::StrCat("/", absl::StrJoin(parts, "/")) : std::string(value));
  if (!path.ok()) return Annotate(path.status(), "StorePath");
  result = *std::move(path);
  return absl::OkStatus();
}

absl::Status ParseReferences(std::string_view value, std::vector<StorePath>& references) {
  if (!references.empty()) return Bad("References", "there are some already");
  for (const auto word : absl::StrSplit(AbslView(value), ' ', absl::SkipEmpty())) {
    auto path = StorePath::FromBaseName(StdView(word));
    if (!path.ok()) return Annotate(path.status(), "References");
    references.push_back(*std::move(path));
  }
  std::sort(references.begin(), references.end());
  references.erase(std::unique(references.begin(), references.end()), references.end());
  return absl::OkStatus();
}

absl::Status ParseHash(std::string_view value, std::string_view field, std::optional<Sha256Digest>& digest) {
  const auto hash = Hash::Parse(value);
  if (!hash.ok()) return Annotate(hash.status(), field);
  digest.reset();
  if (hash->algorithm == HashAlgorithm::kSha256) {
    std::copy_n(hash->bytes.begin(), digest.emplace().bytes.size(), digest->bytes.begin());
  }
  return absl::OkStatus();
}

absl::Status ParseNarHash(std::string_view value, Sha256Digest& digest) {
  std::optional<Sha256Digest> parsed;
  HYDRANT_RETURN_IF_ERROR(ParseHash(value, "NarHash", parsed));
  if (!parsed) return Bad("NarHash", "expected a sha256, which is what archives are checked by");
  digest = *parsed;
  return absl::OkStatus();
}

absl::Status ParseDeriver(std::string_view value, std::string& deriver) {
  if (value == "unknown-deriver") return absl::OkStatus();
  if (auto path = StorePath::FromBaseName(value); !path.ok()) return Annotate(path.status(), "Deriver");
  deriver = value;
  return absl::OkStatus();
}

absl::Status ParseContentAddress(std::string_view value, std::string& content_address) {
  if (!content_address.empty()) return Bad("CA", "there is one already");
  if (value.empty()) return absl::OkStatus();
  const auto address = ContentAddress::Parse(value);
  if (!address.ok()) return Annotate(address.status(), "CA");
  content_address = address->ToString();
  return absl::OkStatus();
}

// One known line's value into its field.
absl::Status SetField(std::string_view key, std::string_view value, NarInfo& info) {
  if (key == "StorePath") return ParseStorePath(value, info.store_path);
  if (key == "FileHash") return ParseHash(value, key, info.file_hash);
  if (key == "FileSize") return ParseSize(value, key, info.file_size);
  if (key == "NarHash") return ParseNarHash(value, info.nar_hash);
  if (key == "NarSize") return ParseSize(value, key, info.nar_size);
  if (key == "References") return ParseReferences(value, info.references);
  if (key == "Deriver") return ParseDeriver(value, info.deriver);
  if (key == "CA") return ParseContentAddress(value, info.content_address);
  if (key == "URL") info.url = value;
  if (key == "Compression") info.compression = value;
  if (key == "Sig" &&
      std::find(info.signatures.begin(), info.signatures.end(), value) == info.signatures.end())
    info.signatures.emplace_back(value);
  return absl::OkStatus();
}

// One line, without its newline; the key is left in `key`.
absl::Status ParseLine(std::string_view line, NarInfo& info, std::string_view& key) {
  const size_t colon = line.find(':');
  key = line.substr(0, colon);
  const bool known = IsKnownKey(key);
  const bool blank = colon != std::string_view::npos && colon + 1 < line.size() &&
                     (!known || line[colon + 1] == ' ' || line[colon + 1] == '\t');
  if (!blank) {
    return absl::InvalidArgumentError(absl::StrCat("expected \"Key: value\", got \"",
                                                   absl::CHexEscape(AbslView(line.substr(0, 80))), "\""));
  }
  if (known) return SetField(key, line.substr(colon + 2), info);
  info.other_fields.emplace_back(line);
  return absl::OkStatus();
}

absl::Status CheckOtherFields(const std::vector<std::string>& fields) {
  if (fields.size() > kMaxOtherFields) {
    return Bad("unknown fields",
               absl::StrCat("there are ", fields.size(), ", at most ", kMaxOtherFields, " are kept"));
  }
  for (const std::string& field : fields) {
    const size_t colon = field.find(": ");
    const std::string_view key = std::string_view(field).substr(0, colon);
    const bool control = std::any_of(field.begin(), field.end(), [](char c) { return c >= 0 && c < ' '; });
    if (colon == std::string::npos || colon == 0 || key.find(':') != std::string_view::npos ||
        IsKnownKey(key) || control || field.size() > kMaxOtherField) {
      return Bad("unknown field",
                 absl::StrCat("expected \"Key: value\" of at most ", kMaxOtherField, " bytes, got \"",
                              absl::CHexEscape(AbslView(std::string_view(field).substr(0, 80))), "\""));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSignature(std::string_view signature) {
  const size_t colon = signature.find(':');
  const bool named = colon != std::string_view::npos && colon > 0 &&
                     std::none_of(signature.begin(), signature.begin() + static_cast<ptrdiff_t>(colon),
                                  [](char c) { return c >= 0 && c <= ' '; });
  std::string bytes;
  if (!named || !absl::Base64Unescape(AbslView(signature.substr(colon + 1)), &bytes) || bytes.size() != 64) {
    return Bad("Sig", "expected a key's name, \":\" and the base64 of 64 bytes");
  }
  return absl::OkStatus();
}

absl::Status CheckSize(uint64_t size, std::string_view field) {
  if (size == 0) return Bad(field, "expected more than 0");
  if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return Bad(field, absl::StrCat(size, " bytes are more than any file has"));
  return absl::OkStatus();
}

absl::Status CheckUrl(std::string_view url) {
  if (url.starts_with('/') || url.find("://") != std::string_view::npos)
    return Bad("URL", "expected a relative one");
  for (const char c : url) {
    if (c <= ' ' || c == 0x7F) return Bad("URL", "it holds a blank or control character");
  }
  for (const auto part : absl::StrSplit(AbslView(url), '/')) {
    if (part == ".." || part == "." || part.empty()) return Bad("URL", "a part is empty, \".\" or \"..\"");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NarInfo> ParseNarInfo(std::string_view text) {
  NarInfo info;
  std::set<std::string_view> seen;
  for (int line_number = 1; !text.empty(); ++line_number) {
    const std::string where = absl::StrCat("narinfo line ", line_number);
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return Bad(where, "expected a newline at the end");
    std::string_view key;
    if (absl::Status bad = ParseLine(text.substr(0, end), info, key); !bad.ok()) return Annotate(bad, where);
    seen.insert(key);
    text.remove_prefix(end + 1);
  }
  for (const std::string_view key : {"StorePath", "URL", "NarHash", "NarSize"}) {
    if (!seen.contains(key)) return Bad("narinfo", absl::StrCat("the field ", AbslView(key), " is missing"));
  }
  if (info.url.empty()) return Bad("narinfo", "URL: the value is empty");
  if (info.nar_size == 0) return Bad("narinfo", "NarSize: expected more than 0");
  if (info.compression.empty()) info.compression = "bzip2";
  return info;
}

std::string PrintNarInfo(const NarInfo& info) {
  std::string out =
      absl::StrCat("StorePath: ", info.store_path.path(), "\nURL: ", info.url,
                   "\nCompression: ", info.compression.empty() ? "bzip2" : info.compression, "\n");
  if (info.file_hash.has_value()) absl::StrAppend(&out, "FileHash: ", info.file_hash->ToNixString(), "\n");
  if (info.file_size > 0) absl::StrAppend(&out, "FileSize: ", info.file_size, "\n");
  absl::StrAppend(&out, "NarHash: ", info.nar_hash.ToNixString(), "\nNarSize: ", info.nar_size,
                  "\nReferences: ");
  std::set<std::string_view> names;
  for (const StorePath& reference : info.references) names.insert(reference.base_name());
  absl::StrAppend(&out,
                  absl::StrJoin(names, " ", [](std::string* to, std::string_view name) { to->append(name); }),
                  "\n");
  if (!info.deriver.empty()) absl::StrAppend(&out, "Deriver: ", info.deriver, "\n");
  for (const std::string& signature : info.signatures) absl::StrAppend(&out, "Sig: ", signature, "\n");
  if (!info.content_address.empty()) absl::StrAppend(&out, "CA: ", info.content_address, "\n");
  for (const std::string& field : info.other_fields) absl::StrAppend(&out, field, "\n");
  return out;
}

absl::Status CheckForStorage(const NarInfo& info) {
  if (info.store_path.empty()) return Bad("StorePath", "the field is missing");
  HYDRANT_RETURN_IF_ERROR(CheckUrl(info.url));
  if (std::find(kCodecs.begin(), kCodecs.end(), info.compression) == kCodecs.end()) {
    return Bad("Compression",
               absl::StrCat("expected one of none, xz, bzip2, zstd, gzip, br, lz4, lzip; got \"",
                            absl::CHexEscape(info.compression), "\""));
  }
  if (!info.file_hash.has_value()) return Bad("FileHash", "the field is missing");
  HYDRANT_RETURN_IF_ERROR(CheckSize(info.file_size, "FileSize"));
  HYDRANT_RETURN_IF_ERROR(CheckSize(info.nar_size, "NarSize"));
  std::string parsed;
  if (!info.deriver.empty()) HYDRANT_RETURN_IF_ERROR(ParseDeriver(info.deriver, parsed));
  for (const std::string& signature : info.signatures) HYDRANT_RETURN_IF_ERROR(CheckSignature(signature));
  HYDRANT_RETURN_IF_ERROR(CheckOtherFields(info.other_fields));
  return info.content_address.empty()
             ? absl::OkStatus()
             : Annotate(ContentAddress::Parse(info.content_address).status(), "CA");
}

std::string Fingerprint(const NarInfo& info) {
  std::set<std::string_view> paths;
  for (const StorePath& reference : info.references) paths.insert(reference.path());
  return absl::StrCat(
      "1;", info.store_path.path(), ";", info.nar_hash.ToNixString(), ";", info.nar_size, ";",
      absl::StrJoin(paths, ",", [](std::string* to, std::string_view path) { to->append(path); }));
}

}  // namespace hydrant::nix
