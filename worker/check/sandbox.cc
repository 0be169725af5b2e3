#include "worker/check/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "worker/check/sandbox_plan.h"

namespace hydrant::worker {
namespace {

constexpr uid_t kInsideId = 1000;  // in a user namespace

struct Pipe {
  UniqueFd read, write;
};

// Both ends above the standard streams, even where those are closed.
absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "make a pipe");
  Pipe low{UniqueFd(fds[0]), UniqueFd(fds[1])};
  Pipe pipe{UniqueFd(fcntl(fds[0], F_DUPFD_CLOEXEC, 3)), UniqueFd(fcntl(fds[1], F_DUPFD_CLOEXEC, 3))};
  if (!pipe.read.valid() || !pipe.write.valid()) return ErrnoStatus(errno, "make a pipe");
  return pipe;
}

absl::Status WriteProc(pid_t pid, const char* name, const std::string& text) {
  const std::string path = absl::StrCat("/proc/", pid, "/", name);
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid() || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return ErrnoStatus(errno, "write " + path);
  }
  return absl::OkStatus();
}

absl::Status MapIds(pid_t pid) {
  HYDRANT_RETURN_IF_ERROR(WriteProc(pid, "setgroups", "deny"));
  HYDRANT_RETURN_IF_ERROR(WriteProc(pid, "uid_map", absl::StrCat(kInsideId, " ", geteuid(), " 1")));
  return WriteProc(pid, "gid_map", absl::StrCat(kInsideId, " ", getegid(), " 1"));
}

absl::Status ReadFailure(int fd, const SandboxPlan& plan) {
  SandboxFailure failure;
  ssize_t n;
  do {
    n = read(fd, &failure, sizeof failure);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof failure) return absl::OkStatus();
  const absl::Status status = ErrnoStatus(failure.error_number, plan.Describe(failure.step));
  if (failure.step == kExec) return status;
  return absl::InternalError(absl::StrCat("set up the sandbox: ", status.message()));
}

pid_t CloneInto(const SandboxPlan& plan, const SandboxFds& fds) {
  unsigned long flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | SIGCHLD;
  if (plan.user_namespace) flags |= CLONE_NEWUSER;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const long pid = syscall(SYS_clone, flags, 0, 0, 0, 0);
  if (pid == 0) RunSandbox(plan, fds);
  const int saved = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = saved;
  return static_cast<pid_t>(pid);
}

}  // namespace

absl::StatusOr<std::unique_ptr<SandboxedProcess>> SandboxedProcess::Start(const SandboxSpec& spec) {
  HYDRANT_ASSIGN_OR_RETURN(const SandboxPlan plan, PlanSandbox(spec));
  if (!plan.user_namespace && chown(spec.temporary.c_str(), plan.uid, plan.gid) != 0) {
    return ErrnoStatus(errno, "give away " + spec.temporary);
  }
  HYDRANT_ASSIGN_OR_RETURN(Pipe output, MakePipe());
  HYDRANT_ASSIGN_OR_RETURN(Pipe report, MakePipe());
  HYDRANT_ASSIGN_OR_RETURN(Pipe status, MakePipe());
  HYDRANT_ASSIGN_OR_RETURN(Pipe go, MakePipe());
  UniqueFd null_device(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd null_above(fcntl(null_device.get(), F_DUPFD_CLOEXEC, 3));

  auto process = std::unique_ptr<SandboxedProcess>(new SandboxedProcess);
  process->pid_ = CloneInto(plan, {.output = output.write.get(),
                                   .report = report.write.get(),
                                   .status = status.write.get(),
                                   .go = go.read.get(),
                                   .null = null_above.get()});
  if (process->pid_ < 0) return ErrnoStatus(errno, "make the namespaces of the sandbox");
  output.write.Reset();
  report.write.Reset();
  status.write.Reset();
  process->output_ = std::move(output.read);
  process->status_ = std::move(status.read);
  if (plan.user_namespace) HYDRANT_RETURN_IF_ERROR(Annotate(MapIds(process->pid_), "set up the sandbox"));
  if (write(go.write.get(), "g", 1) != 1) return ErrnoStatus(errno, "start the sandbox");
  HYDRANT_RETURN_IF_ERROR(ReadFailure(report.read.get(), plan));
  return process;
}

SandboxedProcess::~SandboxedProcess() {
  if (pid_ <= 0) return;
  Kill();
  Wait();
}

void SandboxedProcess::Terminate() {
  if (pid_ > 0) kill(pid_, SIGTERM);
}

void SandboxedProcess::Kill() {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

SandboxedProcess::Result SandboxedProcess::Wait() {
  Result result;
  int first_status = 0;
  struct rusage use {};
  while (wait4(pid_, &first_status, 0, &use) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  int command_status = 0;
  const bool told = read(status_.get(), &command_status, sizeof command_status) == sizeof command_status;
  // Without a word of it the first process was killed, and everything with it.
  const int wait_status = told ? command_status : first_status;
  if (WIFEXITED(wait_status)) result.exit.code = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) result.exit.signal = WTERMSIG(wait_status);
  result.cpu = absl::DurationFromTimeval(use.ru_utime) + absl::DurationFromTimeval(use.ru_stime);
  result.max_memory_bytes = static_cast<int64_t>(use.ru_maxrss) * 1024;
  return result;
}

}  // namespace hydrant::worker
