#include "daemon/cache/content_address.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/nix/content_address.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

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

absl::Status CheckContentAddress(const nix::NarInfo& info) {
  using nix::ContentMethod;
  HYDRANT_ASSIGN_OR_RETURN(const nix::ContentAddress address,
                           nix::ContentAddress::Parse(info.content_address));
  if (address.method == ContentMethod::kGit || address.hash.algorithm == nix::HashAlgorithm::kBlake3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "CA ", info.content_address, ": it is of a kind that is not checked, so not taken either"));
  }
  nix::ContentReferences references;
  for (const nix::StorePath& reference : info.references) {
    if (reference == info.store_path) {
      references.itself = true;
    } else {
      references.others.push_back(reference);
    }
  }
  HYDRANT_ASSIGN_OR_RETURN(const nix::StorePath path,
                           nix::PathOfContent(address, info.store_path.name(), references));
  if (path != info.store_path) {
    return absl::InvalidArgumentError(absl::StrCat("CA ", info.content_address, " does not give ",
                                                   info.store_path.path(), " but ", path.path()));
  }
  // With a reference to itself Nix hashes the archive modulo its own path, which the path alone vouches for
  // here.
  const bool of_the_nar = address.method == ContentMethod::kRecursive &&
                          address.hash.algorithm == nix::HashAlgorithm::kSha256 && !references.itself;
  if (of_the_nar && address.hash.view() != info.nar_hash.view()) {
    return absl::InvalidArgumentError(
        absl::StrCat("CA ", info.content_address, " is not the NarHash, ", info.nar_hash.ToNixString()));
  }
  return absl::OkStatus();
}

std::optional<nix::Sha256Digest> FlatHashOf(std::string_view content_address) {
  const auto address = nix::ContentAddress::Parse(content_address);
  if (!address.ok() || address->hash.algorithm != nix::HashAlgorithm::kSha256) return std::nullopt;
  if (address->method != nix::ContentMethod::kText && address->method != nix::ContentMethod::kFlat)
    return std::nullopt;
  nix::Sha256Digest digest;
  address->hash.view().copy(reinterpret_cast<char*>(digest.bytes.data()), digest.bytes.size());
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
