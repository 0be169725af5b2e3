#include "daemon/evaluate/line_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/base/sigpipe_block.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

// An evaluation looks for signals seldom, but a build inside it must be ended in order.
constexpr absl::Duration kGrace = absl::Seconds(5);
constexpr int kLookMilliseconds = 100;
constexpr size_t kBlock = 64 << 10;
constexpr int kBlocksInAPipe = 16;  // the most that the kernel keeps, unless it is told otherwise

// Bytes in, whole lines out.
class LineCutter {
 public:
  explicit LineCutter(const std::function<bool(std::string_view)>& take) : take_(take) {}

  // Whether any line was of use.
  bool Feed(std::string_view bytes) {
    bool of_use = false;
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      line_.append(piece.substr(0, kLongestLine - line_.size()));
      if (end == std::string_view::npos) break;
      of_use |= Flush();
      bytes.remove_prefix(end + 1);
    }
    return of_use;
  }
  bool Flush() {
    const bool of_use = take_(line_);
    line_.clear();
    return of_use;
  }
  bool empty() const { return line_.empty(); }

 private:
  const std::function<bool(std::string_view)>& take_;
  std::string line_;
};

void Feed(UniqueFd& fd, std::string_view& input) {
  while (fd.valid()) {
    if (input.empty()) return fd.Reset();
    const ssize_t n = write(fd.get(), input.data(), input.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) return fd.Reset();  // it reads no more
    input.remove_prefix(n);
  }
}

// One block, so that the caller looks at its clock between two; whether the block had a line of use.
bool Drain(UniqueFd& fd, LineCutter& lines, bool& more) {
  char block[kBlock];
  more = false;
  if (!fd.valid()) return false;
  const ssize_t n = read(fd.get(), block, sizeof block);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    fd.Reset();
    return false;
  }
  more = true;
  return lines.Feed({block, static_cast<size_t>(n)});
}

// What a full pipe holds; false when it held less. `of_use` becomes true when any line was.
bool DrainPipe(UniqueFd& fd, LineCutter& lines, bool& of_use) {
  bool more = true;
  for (int block = 0; more && block < kBlocksInAPipe; ++block) of_use |= Drain(fd, lines, more);
  return more;
}

absl::Time Now(const LineProcess& process) {
  return process.clock == nullptr ? SystemClock().Now() : process.clock->Now();
}

bool OutOfPatience(const LineProcess& process, absl::Time last_of_use) {
  return Now(process) - last_of_use > (process.patience_now ? process.patience_now() : process.patience);
}

void MakeNonBlocking(UniqueFd& fd) { fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

}  // namespace

absl::StatusOr<LineProcessEnd> RunLineProcess(const LineProcess& process,
                                              const std::function<bool(std::string_view)>& take,
                                              const std::function<bool()>& stop) {
  const UniqueFd nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  Subprocess::Options options{.argv = process.argv, .env = process.env, .clear_env = true};
  options.pipe_stdin = options.pipe_stderr = true;
  options.pipe_stdout = static_cast<bool>(process.take_output);
  if (!options.pipe_stdout) options.stdout_fd = nowhere.get();
  HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> child, Subprocess::Start(std::move(options)));
  if (process.started) process.started(child->pid());
  SigpipeBlock no_sigpipe;
  MakeNonBlocking(child->stdin_fd());
  MakeNonBlocking(child->stderr_fd());
  if (child->stdout_fd().valid()) MakeNonBlocking(child->stdout_fd());
  LineCutter lines(take), output(process.take_output);
  std::string_view input = process.input;
  absl::Time last_of_use = Now(process);
  bool of_use = false;
  while (true) {
    // Asked before the pipe is emptied, so that nothing written before the end is lost. A grandchild may keep
    // it open.
    const bool ended = child->WaitFor(absl::ZeroDuration()).has_value();
    Feed(child->stdin_fd(), input);
    const bool more_errors = DrainPipe(child->stderr_fd(), lines, of_use);
    const bool more_output = DrainPipe(child->stdout_fd(), output, of_use);
    if (std::exchange(of_use, false)) last_of_use = Now(process);
    if (ended) break;
    if (process.kill && process.kill()) {
      return LineProcessEnd{LineProcessEnd::Kind::kStopped, child->Stop(absl::ZeroDuration())};
    }
    const bool impatient = OutOfPatience(process, last_of_use);
    if (impatient || stop()) {
      return LineProcessEnd{impatient ? LineProcessEnd::Kind::kOutOfPatience : LineProcessEnd::Kind::kStopped,
                            child->Stop(kGrace)};
    }
    pollfd fds[] = {{child->stdin_fd().get(), POLLOUT, 0},
                    {child->stderr_fd().get(), POLLIN, 0},
                    {child->stdout_fd().get(), POLLIN, 0}};
    const bool open = child->stderr_fd().valid() || child->stdout_fd().valid();
    // With its pipes closed only its end is to come.
    if (!open) child->WaitFor(absl::Milliseconds(kLookMilliseconds));
    if (!more_errors && !more_output) poll(fds, 3, open ? kLookMilliseconds : 0);
  }
  if (!lines.empty()) lines.Flush();
  if (!output.empty()) output.Flush();
  return LineProcessEnd{LineProcessEnd::Kind::kExited, child->Wait()};
}

}  // namespace hydrant
