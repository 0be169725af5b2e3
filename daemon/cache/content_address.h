// Store paths that follow from their content: recomputed, so that a content address in a narinfo is never
// only believed. Rules: Nix's libstore, makeTextPath and makeFixedOutputPath.
#ifndef HYDRANT_DAEMON_CACHE_CONTENT_ADDRESS_H_
#define HYDRANT_DAEMON_CACHE_CONTENT_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/stream.h"
#include "lib/nix/hash.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/store_path.h"

namespace hydrant {

// The path of `name` with that content address ("text:sha256:…", "fixed:r:sha256:…", "fixed:md5:…").
// `references`: sorted, without itself. InvalidArgument for another form, or references where there can be
// none.
absl::StatusOr<std::string> PathOfContent(std::string_view content_address, std::string_view name,
                                          const std::vector<nix::StorePath>& references,
                                          bool refers_to_itself);

// OK when the address (not empty) gives the path, and its hash is the NAR's where it is one of a NAR.
// InvalidArgument.
absl::Status CheckContentAddress(const nix::NarInfo& info);

// The SHA-256 of a file's bytes that the address claims, for those that are not of a NAR; nullopt for other
// algorithms.
std::optional<nix::Sha256Digest> FlatHashOf(std::string_view content_address);

// Hashes the content of the one plain file in a NAR.
class FlatFileHash final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override;
  absl::StatusOr<nix::Sha256Digest> Finish();  // InvalidArgument: the NAR is not one plain file

 private:
  std::string head_;
  uint64_t left_ = 0;
  bool in_content_ = false;
  nix::Sha256 hash_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_CONTENT_ADDRESS_H_
