#include "lib/nix/self_reference_hash.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {

absl::Status SelfReferenceHash::Write(std::string_view bytes) {
  held_.append(bytes);
  for (size_t at = held_.find(hash_part_); at != held_.npos; at = held_.find(hash_part_, at)) {
    if (places_ == SelfReferencePlaces::kCount) found_.push_back(passed_ + at);
    std::fill_n(held_.begin() + static_cast<ptrdiff_t>(at), hash_part_.size(), '\0');
  }
  if (held_.size() < hash_part_.size()) return absl::OkStatus();
  const size_t whole = held_.size() - hash_part_.size() + 1;
  HYDRANT_RETURN_IF_ERROR(hash_.Write(std::string_view(held_).substr(0, whole)));
  held_.erase(0, whole);
  passed_ += whole;
  return absl::OkStatus();
}

absl::StatusOr<Sha256Digest> SelfReferenceHash::Finish() {
  HYDRANT_RETURN_IF_ERROR(hash_.Write(held_));
  for (const uint64_t position : found_) HYDRANT_RETURN_IF_ERROR(hash_.Write(absl::StrCat("|", position)));
  return hash_.Finish();
}

}  // namespace hydrant::nix
