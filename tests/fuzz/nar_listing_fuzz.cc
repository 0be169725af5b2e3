// A listing (.ls): what is read and printed again reads the same.
#include <algorithm>

#include "lib/nix/nar_listing.h"
#include "lib/nix/nar_listing_json.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

bool Same(const nix::NarEntry& a, const nix::NarEntry& b) {
  return a.type == b.type && a.executable == b.executable && a.depth == b.depth && a.end == b.end &&
         a.size == b.size && a.nar_offset == b.nar_offset && a.name == b.name && a.target == b.target;
}

}  // namespace

void FuzzNarListing(std::string_view input) {
  const auto listing = nix::ParseListingJson(input);
  if (!listing.ok()) {
    const bool expected = listing.status().code() == absl::StatusCode::kInvalidArgument ||
                          listing.status().code() == absl::StatusCode::kResourceExhausted;
    Demand(expected, "a bad listing is InvalidArgument", listing.status().ToString());
    return;
  }
  const auto printed = nix::PrintListingJson(*listing);
  DemandOk(printed.status(), "what was read as JSON can be written as JSON");
  const auto again = nix::ParseListingJson(*printed);
  DemandOk(again.status(), "what is printed can be read");
  Demand(std::ranges::equal(listing->entries(), again->entries(), Same), "what is printed reads the same",
         *printed);
  Demand(nix::PrintListingJson(*again).value() == *printed, "printing is stable", *printed);
  for (const bool flag : {false, true}) {
    DemandOk(nix::PrintListing(*listing, "/", {.details = flag, .recursive = true, .folder_itself = flag})
                 .status(),
             "a listing can be shown");
  }
  const auto found = listing->Find(input.substr(0, input.find('"')));
  Demand(found.ok() || found.status().code() == absl::StatusCode::kNotFound, "what is not there is NotFound");
}

}  // namespace hydrant::fuzz
