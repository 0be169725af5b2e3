// How `hydrant inspect derivation` shows a derivation.
#ifndef HYDRANT_CLIENT_FORMAT_INSPECT_DERIVATION_H_
#define HYDRANT_CLIENT_FORMAT_INSPECT_DERIVATION_H_

#include <string>
#include <vector>

#include "client/format/json.h"
#include "client/format/screen.h"
#include "lib/nix/derivation.h"

namespace hydrant::client {

struct InspectedDerivation {
  std::string path;  // as it was asked for
  nix::Derivation derivation;
};

std::string FormatDerivations(const std::vector<InspectedDerivation>& derivations, const Screen& screen);
std::string DerivationJson(const InspectedDerivation& inspected, JsonLayout layout);
std::string DerivationsJson(const std::vector<InspectedDerivation>& derivations, JsonLayout layout);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_INSPECT_DERIVATION_H_
