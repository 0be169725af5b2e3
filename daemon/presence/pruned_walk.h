// From some derivations down, below only what no cache has: the steps that must be, and where the others are
// held. Knows nothing of HTTP or of .drv files.
#ifndef HYDRANT_DAEMON_PRESENCE_PRUNED_WALK_H_
#define HYDRANT_DAEMON_PRESENCE_PRUNED_WALK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "daemon/presence/presence.h"

namespace hydrant {

// A derivation is held when each of its outputs is ours or some cache's. The inputs of one that is not are
// asked for as soon as that is known, whatever else is still open: a slow answer holds up only what lies
// below it.

// ---- By number: dense, chosen by the caller.

struct NumberedNode {
  // Store paths that live as long as the walk; an empty one (content-addressed) is held nowhere.
  std::vector<std::string_view> outputs;
  std::vector<uint32_t> inputs;
};

struct NumberedWalk {
  // The roots, and the inputs of whatever is not held: the held ones among them too, but nothing below those.
  std::vector<uint32_t> needed;  // each once, as they came up
  // Of those: "ours", or a cache that has an output that we have not.
  absl::flat_hash_map<uint32_t, std::string> held;
  // Those that count as not held only because a cache could not be asked -> why.
  absl::flat_hash_map<uint32_t, std::string> unknown;
};

NumberedWalk PrunedWalk(const std::vector<uint32_t>& roots,
                        const std::function<NumberedNode(uint32_t derivation)>& node_of,
                        const std::function<bool(std::string_view store_path)>& ours, Presence& presence);

// ---- The same by name: .drv paths, or whatever names one.

struct WalkNode {
  std::vector<std::string> outputs, inputs;
};

struct WalkResult {
  absl::flat_hash_set<std::string> needed;
  absl::flat_hash_map<std::string, std::string> held, unknown;
};

WalkResult PrunedWalk(const std::vector<std::string>& roots,
                      const std::function<WalkNode(const std::string& derivation)>& node_of,
                      const std::function<bool(const std::string& store_path)>& ours, Presence& presence);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_PRESENCE_PRUNED_WALK_H_
