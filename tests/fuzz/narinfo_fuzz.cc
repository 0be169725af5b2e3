// A narinfo: what is read and printed again reads the same, and what is signed does not change by it.
#include "lib/nix/narinfo.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {

void FuzzNarinfo(std::string_view input) {
  const auto info = nix::ParseNarInfo(input);
  if (!info.ok()) {
    Demand(info.status().code() == absl::StatusCode::kInvalidArgument, "a bad narinfo is InvalidArgument",
           info.status().ToString());
    return;
  }
  Demand(!info->store_path.empty() && !info->url.empty() && info->nar_size > 0,
         "what must be there is there");
  const std::string printed = nix::PrintNarInfo(*info);
  const auto again = nix::ParseNarInfo(printed);
  DemandOk(again.status(), "what is printed can be read");
  Demand(nix::PrintNarInfo(*again) == printed, "printing is stable", printed);
  Demand(again->store_path == info->store_path && again->url == info->url &&
             again->compression == info->compression && again->file_hash == info->file_hash &&
             again->file_size == info->file_size && again->nar_hash == info->nar_hash &&
             again->nar_size == info->nar_size && again->references == info->references &&
             again->deriver == info->deriver && again->content_address == info->content_address &&
             again->signatures == info->signatures && again->other_fields == info->other_fields,
         "what is printed reads the same", printed);
  const std::string fingerprint = nix::Fingerprint(*info);
  Demand(nix::Fingerprint(*again) == fingerprint, "the fingerprint is stable", fingerprint);
  Demand(fingerprint.find('\n') == std::string::npos, "the fingerprint is one line", fingerprint);
  Demand(nix::CheckForStorage(*again) == nix::CheckForStorage(*info), "the same may be stored", printed);
}

}  // namespace hydrant::fuzz
