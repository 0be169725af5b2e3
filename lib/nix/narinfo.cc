#include "lib/nix/narinfo.h"

#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

constexpr std::array<std::string_view, 8> kCodecs = {"none", "xz", "bzip2", "zstd",
                                                     "gzip", "br", "lz4",   "lzip"};

absl::Status Bad(std::string_view field, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(AbslView(field), ": ", AbslView(why)));
}

absl::Status ParseSize(std::string_view value, std::string_view field, uint64_t& size) {
  const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || !absl::SimpleAtoi(AbslView(value), &size)) {
    return Bad(field, absl::StrCat("expected a number of bytes, got \"",
                                   absl::CHexEscape(AbslView(value.substr(0, 40))), "\""));
  }
  return absl::OkStatus();
}

absl::Status ParseReferences(std::string_view value, std::vector<StorePath>& references) {
  for (const auto word : absl::StrSplit(AbslView(value), ' ', absl::SkipEmpty())) {
    auto path = StorePath::FromBaseName(StdView(word));
    if (!path.ok()) return Annotate(path.status(), "References");
    references.push_back(*std::move(path));
  }
  std::sort(references.begin(), references.end());
  references.erase(std::unique(references.begin(), references.end()), references.end());
  return absl::OkStatus();
}

absl::Status CheckContentAddress(std::string_view value) {
  std::string_view rest = value;
  if (rest.starts_with("text:")) {
    rest.remove_prefix(5);
  } else if (rest.starts_with("fixed:")) {
    rest.remove_prefix(6);
    for (const std::string_view method : {"r:", "git:"}) {
      if (rest.starts_with(method)) {
        rest.remove_prefix(method.size());
        break;
      }
    }
  } else {
    return Bad("CA", "expected fixed:r:<hash>, fixed:<hash> or text:<hash>");
  }
  for (const std::string_view algorithm : {"md5:", "sha1:", "sha256:", "sha512:", "blake3:"}) {
    if (!rest.starts_with(algorithm)) continue;
    rest.remove_prefix(algorithm.size());
    if (algorithm == "sha256:") return Annotate(Sha256Digest::Parse(rest).status(), "CA");
    return rest.empty() ? Bad("CA", "the hash is empty") : absl::OkStatus();
  }
  return Bad("CA", "expected md5:, sha1:, sha256:, sha512: or blake3: before the hash");
}

// One line's value into its field.
absl::Status SetField(std::string_view key, std::string_view value, NarInfo& info) {
  if (key == "StorePath") {
    auto path = StorePath::Parse(value);
    if (!path.ok()) return Annotate(path.status(), key);
    info.store_path = *std::move(path);
  } else if (key == "URL") {
    info.url = value;
  } else if (key == "Compression") {
    info.compression = value;
  } else if (key == "FileHash") {
    auto hash = Sha256Digest::Parse(value);
    if (!hash.ok()) return Annotate(hash.status(), key);
    info.file_hash = *hash;
  } else if (key == "FileSize") {
    return ParseSize(value, key, info.file_size);
  } else if (key == "NarHash") {
    auto hash = Sha256Digest::Parse(value);
    if (!hash.ok()) return Annotate(hash.status(), key);
    info.nar_hash = *hash;
  } else if (key == "NarSize") {
    return ParseSize(value, key, info.nar_size);
  } else if (key == "References") {
    return ParseReferences(value, info.references);
  } else if (key == "Deriver") {
    if (value == "unknown-deriver" || value.empty()) return absl::OkStatus();
    if (auto path = StorePath::FromBaseName(value); !path.ok()) return Annotate(path.status(), key);
    info.deriver = value;
  } else if (key == "Sig") {
    info.signatures.emplace_back(value);
  } else if (key == "CA") {
    if (!value.empty()) HYDRANT_RETURN_IF_ERROR(CheckContentAddress(value));
    info.content_address = value;
  }
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
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos || line.find(':') != colon) {
      return Bad(where, absl::StrCat("expected \"Key: value\", got \"",
                                     absl::CHexEscape(AbslView(line.substr(0, 80))), "\""));
    }
    const std::string_view key = line.substr(0, colon);
    if (!seen.insert(key).second && key != "Sig")
      return Bad(where, absl::StrCat(AbslView(key), " is there twice"));
    if (absl::Status bad = SetField(key, line.substr(colon + 2), info); !bad.ok())
      return Annotate(bad, where);
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
  if (info.file_size == 0) return Bad("FileSize", "expected more than 0");
  if (info.nar_size == 0) return Bad("NarSize", "expected more than 0");
  for (const std::string& signature : info.signatures) {
    const size_t colon = signature.find(':');
    std::string bytes;
    if (colon == std::string::npos || colon == 0 ||
        !absl::Base64Unescape(signature.substr(colon + 1), &bytes) || bytes.size() != 64) {
      return Bad("Sig", "expected a key's name, \":\" and the base64 of 64 bytes");
    }
  }
  return info.content_address.empty() ? absl::OkStatus() : CheckContentAddress(info.content_address);
}

std::string Fingerprint(const NarInfo& info) {
  std::set<std::string_view> paths;
  for (const StorePath& reference : info.references) paths.insert(reference.path());
  return absl::StrCat(
      "1;", info.store_path.path(), ";", info.nar_hash.ToNixString(), ";", info.nar_size, ";",
      absl::StrJoin(paths, ",", [](std::string* to, std::string_view path) { to->append(path); }));
}

}  // namespace hydrant::nix
