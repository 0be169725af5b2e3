// Runs a child and hands over its standard error, and its output where asked, line by line, with bounds on
// what it may say and for how long it may say nothing of use. Knows nothing of what the lines mean.
#ifndef HYDRANT_DAEMON_EVALUATE_LINE_PROCESS_H_
#define HYDRANT_DAEMON_EVALUATE_LINE_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/clock.h"
#include "lib/base/subprocess.h"

namespace hydrant {

// What a line has beyond this is dropped.
inline constexpr size_t kLongestLine = 1 << 20;

struct LineProcess {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // all that it gets
  std::string input;                       // its standard input
  absl::Duration patience;                 // from its start or a line of use to the next
  // Asked as often as `stop`, instead of `patience`, where that changes. May be empty.
  std::function<absl::Duration()> patience_now;
  // Lines of standard output, by the same rules as those of standard error. Empty: that goes nowhere.
  std::function<bool(std::string_view)> take_output;
  const Clock* clock = nullptr;        // of patience alone; null: the system's
  std::function<void(pid_t)> started;  // may be empty
  // Asked as often as `stop`: true ends it by SIGKILL at once, as kStopped. May be empty.
  std::function<bool()> kill;
};

struct LineProcessEnd {
  enum class Kind { kExited, kOutOfPatience, kStopped };
  Kind kind = Kind::kExited;
  ExitStatus status;
};

// `take` tells whether a line is of use. `stop` is asked several times a second; then, as when patience ends,
// the group gets SIGTERM and after five seconds SIGKILL. NotFound: no such program.
absl::StatusOr<LineProcessEnd> RunLineProcess(const LineProcess& process,
                                              const std::function<bool(std::string_view)>& take,
                                              const std::function<bool()>& stop);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_LINE_PROCESS_H_
