// A child process in its own process group, with its three standard streams as the caller wants them. One thread at a time.
#ifndef HYDRANT_LIB_BASE_SUBPROCESS_H_
#define HYDRANT_LIB_BASE_SUBPROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/unique_fd.h"

namespace hydrant {

struct ExitStatus {
  std::optional<int> code;    // set when it exited
  std::optional<int> signal;  // set when a signal ended it
  bool ok() const { return code == 0; }
  std::string ToString() const;  // "exit 3", "signal 9 (Killed)"
};

class Subprocess {
 public:
  struct Options {
    std::vector<std::string> argv;           // argv[0] is looked up in PATH
    std::map<std::string, std::string> env;  // added to, or with clear_env instead of, our environment
    bool clear_env = false;
    std::string directory;  // empty: ours
    // Not piped: standard input is /dev/null, the outputs are ours.
    bool pipe_stdin = false, pipe_stdout = false, pipe_stderr = false;
    std::optional<int> stdout_fd, stderr_fd;  // given to the child as its own instead of a pipe; stay the caller's
    // PR_SET_PDEATHSIG: the kernel sends parent_death_signal when the *thread* that called Start ends, not the process.
    bool die_with_parent = true;
    int parent_death_signal = SIGKILL;
  };

  // NotFound when argv[0] is no program; Internal when the process could not be made. Descriptors of ours above 2 are
  // not passed on.
  static absl::StatusOr<std::unique_ptr<Subprocess>> Start(Options options);

  // Kills the whole group (SIGKILL) and reaps, when still running.
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  UniqueFd& stdin_fd() { return stdin_; }
  UniqueFd& stdout_fd() { return stdout_; }
  UniqueFd& stderr_fd() { return stderr_; }

  // To the group; nothing once the process was waited for.
  void Signal(int signal);
  ExitStatus Wait();        // blocks; may be called again
  // The status if it ended within `timeout`.
  std::optional<ExitStatus> WaitFor(absl::Duration timeout);
  // SIGTERM to the group, `grace`, SIGKILL to what is left of the group, reap.
  ExitStatus Stop(absl::Duration grace);

 private:
  Subprocess() = default;
  bool Ended(absl::Duration timeout) const;  // without reaping, so that the group's number stays ours
  pid_t pid_ = -1;
  UniqueFd pid_fd_;
  std::optional<ExitStatus> status_;
  UniqueFd stdin_, stdout_, stderr_;
};

struct Completed {
  ExitStatus status;
  std::string out, err;
};

// Runs it to its end with `input` on its standard input, both outputs captured (each bounded by `max_output` bytes, the
// rest is read and dropped). DeadlineExceeded after `timeout`, Cancelled within 50 ms after `cancelled` became true (the
// group is killed).
absl::StatusOr<Completed> Run(Subprocess::Options options, std::string_view input = {},
                              absl::Duration timeout = absl::InfiniteDuration(), size_t max_output = 16 << 20,
                              const std::atomic<bool>* cancelled = nullptr);

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_SUBPROCESS_H_
