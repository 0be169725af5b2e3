#include "lib/base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "lib/base/file.h"
#include "lib/base/sigpipe_block.h"
#include "lib/base/status_macros.h"

extern char** environ;

namespace hydrant {
namespace {

struct Pipe {
  UniqueFd read, write;
};

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "make a pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

std::vector<std::string> Environment(const Subprocess::Options& options) {
  std::vector<std::string> result;
  if (!options.clear_env) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (!options.env.contains(std::string(text.substr(0, text.find('='))))) result.emplace_back(text);
    }
  }
  for (const auto& [name, value] : options.env) result.push_back(absl::StrCat(name, "=", value));
  return result;
}

std::string LookUp(const std::string& program, const Subprocess::Options& options) {
  if (program.find('/') != std::string::npos) return program;
  const auto given = options.env.find("PATH");
  const char* ours = getenv("PATH");
  const std::string path = given != options.env.end() ? given->second
                           : ours != nullptr          ? ours
                                                      : "/usr/bin:/bin";
  for (const auto folder : absl::StrSplit(path, ':')) {
    std::string candidate = absl::StrCat(folder.empty() ? "." : folder, "/", program);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

// What the child needs, made before fork(): after it only async-signal-safe calls are allowed.
struct Plan {
  std::string program, directory;
  std::vector<char*> argv, envp;
  std::array<int, 3> streams{-1, -1, -1};  // -1: inherit
  int report_fd = -1;
  int death_signal = 0;
  pid_t parent = 0;
};

enum Stage : int { kStreams, kDirectory, kExec };
struct Failure {
  int stage, error_number;
};

[[noreturn]] void Fail(const Plan& plan, Stage stage) {
  const Failure failure{stage, errno};
  if (write(plan.report_fd, &failure, sizeof failure) < 0) _exit(126);
  _exit(127);
}

void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && signal != SIGPIPE)) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void RunChild(const Plan& plan) {
  setpgid(0, 0);
  if (plan.death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, plan.death_signal);
    if (getppid() != plan.parent) _exit(126);  // it died in between
  }
  // Copies above 2 first, so that no stream overwrites another's source.
  std::array<int, 3> sources{-1, -1, -1};
  for (int i = 0; i < 3; ++i) {
    if (plan.streams[i] < 0) continue;
    sources[i] = fcntl(plan.streams[i], F_DUPFD_CLOEXEC, 3);
    if (sources[i] < 0) Fail(plan, kStreams);
  }
  for (int i = 0; i < 3; ++i) {
    if (sources[i] >= 0 && dup2(sources[i], i) < 0) Fail(plan, kStreams);
  }
  syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  if (!plan.directory.empty() && chdir(plan.directory.c_str()) != 0) Fail(plan, kDirectory);
  ResetSignals();
  execve(plan.program.c_str(), plan.argv.data(), plan.envp.data());
  Fail(plan, kExec);
}

// The child with all signals held back until it has default handlers.
pid_t Fork(const Plan& plan) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) RunChild(plan);
  const int saved_errno = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = saved_errno;
  return pid;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

absl::Status ReadFailure(int fd, const Subprocess::Options& options) {
  Failure failure{};
  ssize_t n;
  do {
    n = read(fd, &failure, sizeof failure);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof failure) return absl::OkStatus();
  if (failure.stage == kDirectory) {
    return Annotate(ErrnoStatus(failure.error_number, "enter folder " + options.directory),
                    absl::StrCat("start ", options.argv[0]));
  }
  const std::string what = absl::StrCat("start ", options.argv[0], ": ", strerror(failure.error_number));
  if (failure.stage == kStreams) return absl::InternalError(what);
  switch (failure.error_number) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case ENOEXEC:
    case EISDIR:
      return absl::NotFoundError(what);
    default:
      return absl::InternalError(what);
  }
}

ExitStatus FromWait(int status) {
  ExitStatus result;
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

int PollMilliseconds(absl::Duration d) {
  if (d > absl::Hours(24)) return 24 * 3600 * 1000;
  return static_cast<int>(
      absl::ToInt64Milliseconds(absl::Ceil(std::max(d, absl::ZeroDuration()), absl::Milliseconds(1))));
}

}  // namespace

std::string ExitStatus::ToString() const {
  if (signal.has_value()) return absl::StrCat("signal ", *signal, " (", strsignal(*signal), ")");
  return absl::StrCat("exit ", code.value_or(-1));
}

absl::StatusOr<std::unique_ptr<Subprocess>> Subprocess::Start(Options options) {
  if (options.argv.empty()) return absl::InvalidArgumentError("start a process: argv is empty");
  Plan plan;
  plan.program = LookUp(options.argv[0], options);
  if (plan.program.empty())
    return absl::NotFoundError(absl::StrCat("start ", options.argv[0], ": not found in PATH"));
  plan.directory = options.directory;
  std::vector<std::string> environment = Environment(options);
  plan.argv = Pointers(options.argv);
  plan.envp = Pointers(environment);

  auto process = std::unique_ptr<Subprocess>(new Subprocess);
  Pipe in, out, err;
  if (options.pipe_stdin) {
    HYDRANT_ASSIGN_OR_RETURN(in, MakePipe());
  } else {
    in.read.Reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  if (options.pipe_stdout) {
    HYDRANT_ASSIGN_OR_RETURN(out, MakePipe());
  }
  if (options.pipe_stderr) {
    HYDRANT_ASSIGN_OR_RETURN(err, MakePipe());
  }
  plan.streams = {in.read.get(), options.pipe_stdout ? out.write.get() : options.stdout_fd.value_or(-1),
                  options.pipe_stderr ? err.write.get() : options.stderr_fd.value_or(-1)};
  HYDRANT_ASSIGN_OR_RETURN(Pipe report, MakePipe());
  plan.report_fd = report.write.get();
  plan.death_signal = options.die_with_parent ? options.parent_death_signal : 0;
  plan.parent = getpid();

  process->pid_ = Fork(plan);
  if (process->pid_ < 0)
    return absl::InternalError(absl::StrCat("start ", options.argv[0], ": fork: ", strerror(errno)));
  setpgid(process->pid_, process->pid_);  // the child does it too: whoever comes first
  process->pid_fd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, process->pid_, 0)));
  report.write.Reset();
  if (absl::Status failed = ReadFailure(report.read.get(), options); !failed.ok()) {
    process->Wait();
    return failed;
  }
  process->stdin_ = std::move(in.write);
  process->stdout_ = std::move(out.read);
  process->stderr_ = std::move(err.read);
  return process;
}

Subprocess::~Subprocess() {
  if (pid_ < 0 || status_.has_value()) return;
  Signal(SIGKILL);
  Wait();
}

void Subprocess::Signal(int signal) {
  if (pid_ > 0 && !status_.has_value()) kill(-pid_, signal);
}

ExitStatus Subprocess::Wait() {
  if (!status_.has_value()) {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = FromWait(status);
  }
  return *status_;
}

bool Subprocess::Ended(absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    siginfo_t info{};
    if (waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) return true;
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    pollfd ended{pid_fd_.get(), POLLIN, 0};
    // A kernel without pidfd_open: look again every few milliseconds.
    poll(&ended, 1, pid_fd_.valid() ? PollMilliseconds(left) : 5);
  }
}

std::optional<ExitStatus> Subprocess::WaitFor(absl::Duration timeout) {
  if (!status_.has_value() && !Ended(timeout)) return std::nullopt;
  return Wait();
}

ExitStatus Subprocess::Stop(absl::Duration grace) {
  if (!status_.has_value()) {
    Signal(SIGTERM);
    Ended(grace);
    Signal(SIGKILL);
  }
  return Wait();
}

namespace {

// Feeds and drains a child's pipes until it has ended.
class Conversation {
 public:
  Conversation(Subprocess& process, std::string_view input, size_t max_output)
      : process_(process), input_(input), max_output_(max_output) {}

  // False when `deadline` came first, or it is not wanted any more.
  bool Drive(absl::Time deadline, const std::function<bool()>& is_cancelled, Completed& completed) {
    for (UniqueFd* fd : {&process_.stdin_fd(), &process_.stdout_fd(), &process_.stderr_fd()}) {
      fcntl(fd->get(), F_SETFL, fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
    }
    while (true) {
      // Asked before the pipes are emptied, so that nothing written before the end is lost. A grandchild may
      // keep them open.
      const bool ended = process_.WaitFor(absl::ZeroDuration()).has_value();
      Feed();
      Drain(process_.stdout_fd(), completed.out);
      Drain(process_.stderr_fd(), completed.err);
      if (ended) return true;
      const absl::Duration left = deadline - absl::Now();
      if (left <= absl::ZeroDuration() || is_cancelled()) return false;
      const absl::Duration look = std::min(left, absl::Milliseconds(50));
      const bool all_closed = !process_.stdout_fd().valid() && !process_.stderr_fd().valid();
      if (all_closed && !process_.stdin_fd().valid()) {
        process_.WaitFor(look);
        continue;
      }
      pollfd fds[] = {{process_.stdin_fd().get(), POLLOUT, 0},
                      {process_.stdout_fd().get(), POLLIN, 0},
                      {process_.stderr_fd().get(), POLLIN, 0}};
      poll(fds, 3, PollMilliseconds(look));
    }
  }

 private:
  void Feed() {
    UniqueFd& fd = process_.stdin_fd();
    while (fd.valid()) {
      if (input_.empty()) return fd.Reset();
      const ssize_t n = write(fd.get(), input_.data(), input_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) return fd.Reset();  // it reads no more
      input_.remove_prefix(n);
    }
  }

  void Drain(UniqueFd& fd, std::string& captured) {
    char block[16 << 10];
    while (fd.valid()) {
      const ssize_t n = read(fd.get(), block, sizeof block);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return fd.Reset();
      captured.append(block, std::min<size_t>(n, max_output_ - captured.size()));
    }
  }

  Subprocess& process_;
  std::string_view input_;
  size_t max_output_;
};

}  // namespace

absl::StatusOr<Completed> Run(Subprocess::Options options, std::string_view input, absl::Duration timeout,
                              size_t max_output, const std::atomic<bool>* cancelled) {
  options.pipe_stdin = options.pipe_stdout = options.pipe_stderr = true;
  const std::string program = options.argv.empty() ? "" : options.argv[0];
  const absl::Time deadline = absl::Now() + timeout;
  HYDRANT_ASSIGN_OR_RETURN(auto process, Subprocess::Start(std::move(options)));
  SigpipeBlock no_sigpipe;
  Completed completed;
  const auto is_cancelled = [&] { return cancelled != nullptr && cancelled->load(); };
  if (!Conversation(*process, input, max_output).Drive(deadline, is_cancelled, completed)) {
    process->Stop(absl::ZeroDuration());
    if (is_cancelled()) return absl::CancelledError(absl::StrCat("run ", program, ": cancelled"));
    return absl::DeadlineExceededError(
        absl::StrCat("run ", program, ": no end within ", absl::FormatDuration(timeout)));
  }
  completed.status = process->Wait();
  return completed;
}

}  // namespace hydrant
