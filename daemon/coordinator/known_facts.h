// What is known of a variant beside its outcome: from the evaluator into the record, from the record into memory, and what
// follows from it. Pure.
#ifndef HYDRANT_DAEMON_COORDINATOR_KNOWN_FACTS_H_
#define HYDRANT_DAEMON_COORDINATOR_KNOWN_FACTS_H_

#include "daemon/audit/hydra_policy.h"
#include "daemon/coordinator/farm_state.h"
#include "daemon/evaluate/variant_facts.h"

namespace hydrant {

// Facts of a new outcome, for the record and in memory.
void LearnFacts(const VariantFacts& facts, VariantEntry& variant);
// In memory as the record has them.
void RecallFacts(VariantEntry& variant);

// `facts` null: nothing is known of it.
HydraVerdict HydraOf(const VariantRecord& record, const VariantFacts* facts);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_KNOWN_FACTS_H_
