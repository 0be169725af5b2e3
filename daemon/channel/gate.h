// Whether an evaluation passes its gate, and whether a channel may move to it. Pure.
#ifndef HYDRANT_DAEMON_CHANNEL_GATE_H_
#define HYDRANT_DAEMON_CHANNEL_GATE_H_

#include <string>
#include <vector>

#include "daemon/graph/evaluation_state.h"
#include "daemon/graph/ids.h"

namespace hydrant {

// A variant as the gate sees it.
struct GateVariant {
  std::string id;
  bool required = false;
  bool cached = false;  // published or held upstream, its required checks passed
};

struct Verdict {
  bool passed = false;
  std::vector<std::string> missing;  // ids of required variants that are not cached
};

// Settled, and every required variant is cached. `declared` false (no [gate]): every settled evaluation passes. A gate whose
// globs select nothing does not pass: the caller adds such a glob to `unmatched`.
Verdict JudgeGate(EvaluationState state, bool declared, const std::vector<GateVariant>& variants,
                  const std::vector<std::string>& unmatched);

// True when a channel at `current` (0: nowhere) may move to `candidate`: newer only.
bool MayMove(EvaluationId current, EvaluationId candidate);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CHANNEL_GATE_H_
