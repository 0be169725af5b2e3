// How `hydrant inspect nar list` shows what is in an archive.
#ifndef HYDRANT_CLIENT_FORMAT_INSPECT_NAR_H_
#define HYDRANT_CLIENT_FORMAT_INSPECT_NAR_H_

#include <string>

#include "client/format/table.h"
#include "lib/nix/nar_listing.h"

namespace hydrant::client {

// Mode, size and path of every entry, the root as ".".
Table ListingTable(const nix::NarListing& listing);
// A JSON line for each.
std::string ListingLines(const nix::NarListing& listing);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_INSPECT_NAR_H_
