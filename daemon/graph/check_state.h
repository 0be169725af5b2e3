// The lifecycle of a check: wanted -> ready -> running -> passed | failed | skipped. Drawn in daemon/README.md. Pure.
#ifndef HYDRANT_DAEMON_GRAPH_CHECK_STATE_H_
#define HYDRANT_DAEMON_GRAPH_CHECK_STATE_H_

#include <optional>
#include <string_view>

namespace hydrant {

enum class CheckState {
  kWanted,   // its output or environment is not staged
  kReady,    // a worker may take it
  kRunning,  // an attempt holds its lease
  kPassed,
  kFailed,   // remembered by its key; `retry` clears it
  kSkipped,  // its output will not come, or it was cancelled
};

enum class CheckEvent {
  kInputsStaged, kGranted, kPassed, kFailed,
  kFailedByFarm,  // lost, device_lost, error: ready again at once (placement keeps it off that worker)
  kInputsGone,    // output or environment failed, or nobody wants it
  kRetried,       // from failed, skipped (and passed, when asked): wanted again
};

inline constexpr int kCheckStateCount = 6;
inline constexpr int kCheckEventCount = 7;

std::optional<CheckState> NextCheckState(CheckState state, CheckEvent event);
bool IsFinal(CheckState state);
std::string_view CheckStateName(CheckState state);
std::optional<CheckState> ParseCheckState(std::string_view name);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_GRAPH_CHECK_STATE_H_
