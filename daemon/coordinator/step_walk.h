// From the derivations of some outcomes to their steps, and to what must come with those. Marks what it met
// by the closure's numbers, so that an evaluation's later outcomes cost only what they add.
#ifndef HYDRANT_DAEMON_COORDINATOR_STEP_WALK_H_
#define HYDRANT_DAEMON_COORDINATOR_STEP_WALK_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "daemon/cache/catalogue.h"
#include "daemon/coordinator/views.h"
#include "daemon/evaluate/derivation_closure.h"
#include "daemon/presence/presence.h"
#include "daemon/presence/pruned_walk.h"

namespace hydrant {

// True when it was not marked before.
bool Mark(DerivationMarks& marks, const LinkedDerivation* derivation);

// One walk as PrunedWalk has it: from some derivations down, below only what no cache has.
class StepWalk {
 public:
  // `walked`: those whose steps are there already; gets the new ones. All outlive this.
  StepWalk(const Catalogue& catalogue, Presence& presence, DerivationMarks& walked)
      : catalogue_(catalogue), presence_(presence), walked_(walked) {}

  // The derivations of the new steps; in `batch` the steps, and which of them a cache holds.
  std::vector<const LinkedDerivation*> Walk(const std::vector<const LinkedDerivation*>& roots,
                                            OutcomeBatch& batch);

 private:
  std::vector<uint32_t> Unwalked(const std::vector<const LinkedDerivation*>& derivations);
  NumberedNode NodeOf(uint32_t number);

  const Catalogue& catalogue_;
  Presence& presence_;
  DerivationMarks& walked_;
  std::vector<const LinkedDerivation*> met_;  // by number
};

// `fresh` with the derivations of `steps`, their inputs, and all below those whose hook looks into it,
// whatever else was brought before. Inputs before those that use them, each once.
std::vector<const LinkedDerivation*> WithWhatStepsNeed(std::vector<const LinkedDerivation*> fresh,
                                                       const std::vector<const LinkedDerivation*>& steps);

// The sources that must be in our cache before `steps` are, of `batch` with its derivations `all`.
std::set<std::string> SourcesOf(const std::vector<const LinkedDerivation*>& steps,
                                const std::vector<const LinkedDerivation*>& all, const OutcomeBatch& batch);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_STEP_WALK_H_
