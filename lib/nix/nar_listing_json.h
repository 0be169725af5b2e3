// The JSON form of a listing, as a binary cache serves it: `/<hash part>.ls`.
#ifndef HYDRANT_LIB_NIX_NAR_LISTING_JSON_H_
#define HYDRANT_LIB_NIX_NAR_LISTING_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lib/nix/nar_listing.h"

namespace hydrant::nix {

// {"version":1,"root":…}, byte for byte what Nix 2.8 writes with write-nar-listing=true, no newline at the
// end. InvalidArgument names an entry whose name or target is not UTF-8. Nix 2.8 writes such bytes as they
// are, which is not JSON, and then cannot read them; newer ones fail too. A cache leaves the `.ls` of such a
// path out: it is optional.
absl::StatusOr<std::string> PrintListingJson(const NarListing& listing);

// Reads what any Nix wrote: the keys of an object in any order. InvalidArgument, with the byte for a fault of
// the JSON and the entry's path and field for one of the listing: another version, an unknown, double or
// missing field, names that no archive may have or that are out of order, deeper than kNarMaxDepth.
// ResourceExhausted over `max_bytes` of listing.
absl::StatusOr<NarListing> ParseListingJson(std::string_view text, size_t max_bytes = NarListing::kMaxBytes);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_NAR_LISTING_JSON_H_
