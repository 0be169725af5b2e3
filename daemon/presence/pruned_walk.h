// From some derivations down, below only what no cache has: the steps that must be, and where the others are
// held. Knows nothing of HTTP or of .drv files.
#ifndef HYDRANT_DAEMON_PRESENCE_PRUNED_WALK_H_
#define HYDRANT_DAEMON_PRESENCE_PRUNED_WALK_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/presence/presence.h"

namespace hydrant {

// Of one derivation.
struct WalkNode {
  std::vector<std::string> outputs;  // store paths; an empty one (content-addressed) is held nowhere
  std::vector<std::string> inputs;   // .drv paths
};

struct WalkResult {
  // The roots, and the inputs of whatever is not held: the held ones among them too, but nothing below those.
  std::set<std::string> needed;
  std::map<std::string, std::string>
      held;  // of those, .drv -> "ours", or a cache that has an output that we have not
  std::map<std::string, std::string>
      unknown;  // .drv that counts as not held only because a cache could not be asked -> why
};

// A derivation is held when each of its outputs is ours or some cache's. The inputs of one that is not are
// asked for as soon as that is known, whatever else is still open: a slow answer holds up only what lies
// below it.
WalkResult PrunedWalk(const std::vector<std::string>& roots,
                      const std::function<WalkNode(const std::string& derivation)>& node_of,
                      const std::function<bool(const std::string& store_path)>& ours, Presence& presence);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_PRUNED_WALK_H_
