// Facts as one JSON text for the record, and back: what a later version adds needs no migration.
#ifndef HYDRANT_DAEMON_EVALUATE_FACTS_TEXT_H_
#define HYDRANT_DAEMON_EVALUATE_FACTS_TEXT_H_

#include <string>
#include <string_view>

#include "daemon/evaluate/variant_facts.h"

namespace hydrant {

// "" of facts that tell nothing. Always clean UTF-8.
std::string FactsText(const VariantFacts& facts);

// What is no such text tells nothing.
VariantFacts ParseFacts(std::string_view text);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_FACTS_TEXT_H_
