// The facts in the lines of driver.nix as values. Takes any JSON: what has another shape than the protocol's
// is as if it were not there, and lists and texts are cut at a bound.
#ifndef HYDRANT_DAEMON_EVALUATE_DRIVER_FACTS_H_
#define HYDRANT_DAEMON_EVALUATE_DRIVER_FACTS_H_

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/evaluate/variant_facts.h"

namespace hydrant {

// `meta` of a line @A into the facts; found_as stays.
void ReadFacts(const nlohmann::json& meta, VariantFacts* facts);

// The line @Q: VariantFacts::named.
std::map<std::string, std::string> ReadNamed(const nlohmann::json& fields);

// The `meta` from which ReadFacts makes these facts; without found_as, and without what is not known.
nlohmann::json FactsMeta(const VariantFacts& facts);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DRIVER_FACTS_H_
