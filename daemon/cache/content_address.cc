#include "daemon/cache/content_address.h"

#include <algorithm>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kPathDigest = 20;

struct Address {
  bool text = false, recursive = false;
  std::string algorithm, digest;  // "sha256", raw bytes
};

absl::StatusOr<Address> ParseAddress(std::string_view address) {
  static const auto& sizes = *new std::map<std::string, size_t, std::less<>>{
      {"md5", 16}, {"sha1", 20}, {"sha256", 32}, {"sha512", 64}};
  const auto bad = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("CA \"", absl::CHexEscape(AbslView(address)), "\": ", AbslView(why)));
  };
  Address parsed;
  std::string_view rest = address;
  const auto skip = [&rest](std::string_view prefix) {
    if (!rest.starts_with(prefix)) return false;
    rest.remove_prefix(prefix.size());
    return true;
  };
  parsed.text = skip("text:");
  if (!parsed.text && !skip("fixed:")) return bad("expected text:… or fixed:…");
  parsed.recursive = !parsed.text && skip("r:");
  const size_t colon = rest.find(':');
  if (colon == rest.npos) return bad("expected ALGORITHM:HASH at its end");
  parsed.algorithm = std::string(rest.substr(0, colon));
  const auto size = sizes.find(parsed.algorithm);
  if (size == sizes.end() || (parsed.text && parsed.algorithm != "sha256"))
    return bad("the hash algorithm is not one of Nix's for it");
  const std::string_view hash = rest.substr(colon + 1);
  if (hash.size() == size->second * 2) {
    parsed.digest = absl::HexStringToBytes(AbslView(hash));
    if (absl::BytesToHexString(parsed.digest) != hash) return bad("the hash is not base16");
    return parsed;
  }
  absl::StatusOr<std::string> digest = nix::FromBase32(hash, size->second);
  if (!digest.ok()) return bad(StdView(digest.status().message()));
  parsed.digest = *std::move(digest);
  return parsed;
}

std::string MakePath(std::string_view type, std::string_view digest, std::string_view name) {
  const nix::Sha256Digest full =
      nix::HashSha256(absl::StrCat(AbslView(type), ":sha256:", absl::BytesToHexString(AbslView(digest)), ":",
                                   AbslView(nix::kStoreDir), ":", AbslView(name)));
  std::string compressed(kPathDigest, '\0');
  for (size_t i = 0; i < full.bytes.size(); ++i)
    compressed[i % kPathDigest] ^= static_cast<char>(full.bytes[i]);
  return absl::StrCat(AbslView(nix::kStoreDir), "/", nix::ToBase32(compressed), "-", AbslView(name));
}

std::string_view FlatFileHead() {
  static const std::string& head = *[] {
    auto* text = new std::string;
    for (std::string_view token : {"nix-archive-1", "(", "type", "regular", "contents"}) {
      text->push_back(static_cast<char>(token.size()));
      text->append(7, '\0').append(token).append((8 - token.size() % 8) % 8, '\0');
    }
    return text;
  }();
  return head;
}

}  // namespace

absl::StatusOr<std::string> PathOfContent(std::string_view content_address, std::string_view name,
                                          const std::vector<nix::StorePath>& references,
                                          bool refers_to_itself) {
  HYDRANT_ASSIGN_OR_RETURN(const Address address, ParseAddress(content_address));
  if (address.text || (address.recursive && address.algorithm == "sha256")) {
    if (address.text && refers_to_itself)
      return absl::InvalidArgumentError("a text file cannot refer to itself");
    std::string type = address.text ? "text" : "source";
    for (const nix::StorePath& reference : references) absl::StrAppend(&type, ":", reference.path());
    if (refers_to_itself) type += ":self";
    return MakePath(type, address.digest, name);
  }
  if (!references.empty() || refers_to_itself) {
    return absl::InvalidArgumentError("a fixed output of this kind has no references");
  }
  const nix::Sha256Digest inner =
      nix::HashSha256(absl::StrCat("fixed:out:", address.recursive ? "r:" : "", address.algorithm, ":",
                                   absl::BytesToHexString(address.digest), ":"));
  return MakePath("output:out", inner.view(), name);
}

absl::Status CheckContentAddress(const nix::NarInfo& info) {
  HYDRANT_ASSIGN_OR_RETURN(const Address address, ParseAddress(info.content_address));
  std::vector<nix::StorePath> others;
  for (const nix::StorePath& reference : info.references) {
    if (reference != info.store_path) others.push_back(reference);
  }
  HYDRANT_ASSIGN_OR_RETURN(const std::string path,
                           PathOfContent(info.content_address, info.store_path.name(), others,
                                         others.size() != info.references.size()));
  if (path != info.store_path.path()) {
    return absl::InvalidArgumentError(
        absl::StrCat("CA ", info.content_address, " does not give ", info.store_path.path(), " but ", path));
  }
  // With a reference to itself Nix hashes the archive modulo its own path, which the path alone vouches for
  // here.
  const bool of_the_nar =
      address.recursive && address.algorithm == "sha256" && others.size() == info.references.size();
  if (of_the_nar && address.digest != info.nar_hash.view()) {
    return absl::InvalidArgumentError(
        absl::StrCat("CA ", info.content_address, " is not the NarHash, ", info.nar_hash.ToNixString()));
  }
  return absl::OkStatus();
}

std::optional<nix::Sha256Digest> FlatHashOf(std::string_view content_address) {
  const absl::StatusOr<Address> address = ParseAddress(content_address);
  if (!address.ok() || address->recursive || address->algorithm != "sha256") return std::nullopt;
  nix::Sha256Digest digest;
  std::copy(address->digest.begin(), address->digest.end(), digest.bytes.begin());
  return digest;
}

absl::Status FlatFileHash::Write(std::string_view bytes) {
  const size_t wanted = FlatFileHead().size() + 8;
  if (!in_content_) {
    const size_t n = std::min(bytes.size(), wanted - head_.size());
    head_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    if (head_.size() < wanted) return absl::OkStatus();
    if (!head_.starts_with(FlatFileHead()))
      return absl::InvalidArgumentError("the NAR is not one plain file");
    for (size_t i = 0; i < 8; ++i)
      left_ |= uint64_t{static_cast<uint8_t>(head_[FlatFileHead().size() + i])} << (8 * i);
    in_content_ = true;
  }
  const std::string_view content = bytes.substr(0, std::min<uint64_t>(left_, bytes.size()));
  left_ -= content.size();
  return hash_.Write(content);
}

absl::StatusOr<nix::Sha256Digest> FlatFileHash::Finish() {
  if (!in_content_ || left_ != 0) return absl::InvalidArgumentError("the NAR is not one plain file");
  return hash_.Finish();
}

}  // namespace hydrant
