#include "lib/nix/content_address.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

std::string_view Prefix(ContentMethod method) {
  switch (method) {
    case ContentMethod::kText:
      return "text:";
    case ContentMethod::kFlat:
      return "";
    case ContentMethod::kRecursive:
      return "r:";
    case ContentMethod::kGit:
      return "git:";
  }
  return "";
}

bool Skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Reads what Prefix gives.
ContentMethod SkipMethod(std::string_view& text) {
  for (const ContentMethod method : {ContentMethod::kText, ContentMethod::kRecursive, ContentMethod::kGit}) {
    if (Skip(text, Prefix(method))) return method;
  }
  return ContentMethod::kFlat;
}

absl::Status CheckPair(ContentMethod method, HashAlgorithm algorithm) {
  if (method == ContentMethod::kText && algorithm != HashAlgorithm::kSha256)
    return absl::InvalidArgumentError("expected sha256, which is the only algorithm of text:");
  if (method == ContentMethod::kGit && algorithm != HashAlgorithm::kSha1 &&
      algorithm != HashAlgorithm::kSha256)
    return absl::InvalidArgumentError("expected sha1 or sha256, which are the algorithms of git:");
  return absl::OkStatus();
}

absl::StatusOr<ContentAddress> Make(ContentMethod method, std::string_view algorithm,
                                    std::string_view digits) {
  HYDRANT_ASSIGN_OR_RETURN(const HashAlgorithm known, ParseHashAlgorithm(algorithm));
  HYDRANT_RETURN_IF_ERROR(CheckPair(method, known));
  HYDRANT_ASSIGN_OR_RETURN(const Hash hash, Hash::ParseDigits(known, digits));
  return ContentAddress{.method = method, .hash = hash};
}

absl::StatusOr<ContentAddress> ParseFields(std::string_view text) {
  const bool is_text = text.starts_with("text:");
  if (!is_text && !Skip(text, "fixed:")) return absl::InvalidArgumentError("expected text:… or fixed:…");
  const ContentMethod method = SkipMethod(text);
  if (!is_text && method == ContentMethod::kText)
    return absl::InvalidArgumentError("expected r:, git: or an algorithm after fixed:");
  const size_t colon = text.find(':');
  if (colon == text.npos) return absl::InvalidArgumentError("expected ALGORITHM:HASH at its end");
  return Make(method, text.substr(0, colon), text.substr(colon + 1));
}

std::string FullType(std::string_view type, const ContentReferences& references) {
  std::vector<std::string_view> paths;
  for (const StorePath& other : references.others) paths.push_back(other.path());
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::string full(type);
  for (const std::string_view path : paths) absl::StrAppend(&full, ":", AbslView(path));
  if (references.itself) full += ":self";
  return full;
}

// 160 bits of the SHA-256 of what identifies the path: Nix's compressHash.
absl::StatusOr<StorePath> MakePath(std::string_view type, std::string_view digest, std::string_view name) {
  const Sha256Digest full =
      HashSha256(absl::StrCat(AbslView(type), ":sha256:", absl::BytesToHexString(AbslView(digest)), ":",
                              AbslView(kStoreDir), ":", AbslView(name)));
  HashPart part{};
  for (size_t i = 0; i < full.bytes.size(); ++i) part[i % part.size()] ^= full.bytes[i];
  return StorePath::FromBaseName(absl::StrCat(EncodeHashPart(part), "-", AbslView(name)));
}

}  // namespace

absl::StatusOr<ContentAddress> ContentAddress::Parse(std::string_view text) {
  auto address = ParseFields(text);
  if (address.ok()) return address;
  return Annotate(address.status(),
                  absl::StrCat("content address \"", absl::CHexEscape(AbslView(text.substr(0, 200))), "\""));
}

absl::StatusOr<ContentAddress> ContentAddress::OfOutput(std::string_view hash_algo, std::string_view hash) {
  const ContentMethod method = SkipMethod(hash_algo);
  return Make(method, hash_algo, hash);
}

std::string ContentAddress::ToString() const {
  return absl::StrCat(method == ContentMethod::kText ? "" : "fixed:", AbslView(Prefix(method)),
                      hash.ToNixString());
}

std::string ContentAddress::MethodAndAlgorithm() const {
  return absl::StrCat(AbslView(Prefix(method)), AbslView(HashAlgorithmName(hash.algorithm)));
}

absl::StatusOr<StorePath> PathOfContent(const ContentAddress& address, std::string_view name,
                                        const ContentReferences& references) {
  HYDRANT_RETURN_IF_ERROR(CheckPair(address.method, address.hash.algorithm));
  if (address.method == ContentMethod::kText) {
    if (references.itself) return absl::InvalidArgumentError("a text file cannot refer to itself");
    return MakePath(FullType("text", references), address.hash.view(), name);
  }
  if (address.method == ContentMethod::kRecursive && address.hash.algorithm == HashAlgorithm::kSha256)
    return MakePath(FullType("source", references), address.hash.view(), name);
  if (!references.others.empty() || references.itself) {
    return absl::InvalidArgumentError(
        absl::StrCat("content address ", address.ToString(), ": a content of this kind has no references"));
  }
  const Sha256Digest inner =
      HashSha256(absl::StrCat("fixed:out:", address.MethodAndAlgorithm(), ":", address.hash.ToBase16(), ":"));
  return MakePath("output:out", inner.view(), name);
}

absl::StatusOr<StorePath> PathOfText(std::string_view text, std::string_view name,
                                     const std::vector<StorePath>& references) {
  return MakePath(FullType("text", {.others = references}), HashSha256(text).view(), name);
}

absl::StatusOr<StorePath> PathOfOutput(const Sha256Digest& digest, std::string_view derivation_name,
                                       std::string_view output_name) {
  return MakePath(absl::StrCat("output:", AbslView(output_name)), digest.view(),
                  NameOfOutput(derivation_name, output_name));
}

std::string NameOfOutput(std::string_view derivation_name, std::string_view output_name) {
  if (output_name == "out") return std::string(derivation_name);
  return absl::StrCat(AbslView(derivation_name), "-", AbslView(output_name));
}

std::string Placeholder(std::string_view output_name) {
  return absl::StrCat("/", HashSha256(absl::StrCat("nix-output:", AbslView(output_name))).ToBase32());
}

std::string PlaceholderOfInput(const StorePath& derivation, std::string_view output_name) {
  std::string_view name = derivation.name();
  if (name.ends_with(".drv")) name.remove_suffix(4);
  return absl::StrCat("/", HashSha256(absl::StrCat("nix-upstream-output:", AbslView(derivation.hash_part()),
                                                   ":", NameOfOutput(name, output_name)))
                               .ToBase32());
}

}  // namespace hydrant::nix
