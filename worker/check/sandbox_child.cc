// What runs in the sandbox before and beside its command. Only system calls, all by number where the C
// library would reach for the other threads of the process that this is a copy of.
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/check/sandbox_plan.h"

namespace hydrant::worker {
namespace {

[[noreturn]] void Fail(const SandboxFds& fds, int step, int error_number) {
  const SandboxFailure failure{step, error_number};
  if (write(fds.report, &failure, sizeof failure) < 0) _exit(126);
  _exit(127);
}

bool Do(const SandboxStep& step) {
  switch (step.kind) {
    case SandboxStep::Kind::kMakeFolder:
      return mkdir(step.path, 0755) == 0 || errno == EEXIST;
    case SandboxStep::Kind::kMakeFile: {
      const int fd = open(step.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      if (fd >= 0) close(fd);
      return fd >= 0;
    }
    case SandboxStep::Kind::kSymlink:
      return symlink(step.source, step.path) == 0 || errno == EEXIST;
    case SandboxStep::Kind::kMount:
      return mount(step.source, step.path, step.type, step.flags, step.data) == 0;
  }
  return false;
}

void BringLoopbackUp() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  struct ifreq request {};
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  ioctl(fd, SIOCSIFFLAGS, &request);
  close(fd);
}

void SetUp(const SandboxPlan& plan, const SandboxFds& fds) {
  char end;
  while (read(fds.go, &end, 1) < 0 && errno == EINTR) {
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) Fail(fds, kRoot, errno);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!Do(plan.steps[i])) Fail(fds, static_cast<int>(i), errno);
  }
  // The old root ends up under the new one's "/" and is let go of.
  if (chdir(plan.root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ||
      chdir("/") != 0) {
    Fail(fds, kRoot, errno);
  }
  BringLoopbackUp();
  sethostname("localhost", 9);
}

bool GiveUpRights(const SandboxPlan& plan) {
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  const struct rlimit no_core {};
  setrlimit(RLIMIT_CORE, &no_core);
  if (!plan.user_namespace) {
    if (syscall(SYS_setgroups, 0, nullptr) != 0 ||
        syscall(SYS_setresgid, plan.gid, plan.gid, plan.gid) != 0 ||
        syscall(SYS_setresuid, plan.uid, plan.uid, plan.uid) != 0) {
      return false;
    }
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

[[noreturn]] void RunCommand(const SandboxPlan& plan, const SandboxFds& fds) {
  setsid();
  if (dup2(fds.null, 0) < 0 || dup2(fds.output, 1) < 0 || dup2(fds.output, 2) < 0) Fail(fds, kExec, errno);
  syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  if (!GiveUpRights(plan) || chdir("/tmp") != 0) Fail(fds, kRights, errno);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int error_number = ENOENT;
  for (char* const* candidate = plan.candidates.data(); *candidate != nullptr; ++candidate) {
    execve(*candidate, plan.argv.data(), plan.envp.data());
    if (errno != ENOENT && errno != ENOTDIR) error_number = errno;
  }
  Fail(fds, kExec, error_number);
}

// As the first process of its namespace: its own end is the kernel's SIGKILL to everyone else.
[[noreturn]] void Reap(pid_t command, const SandboxFds& fds, const sigset_t& awaited) {
  for (;;) {
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != command) continue;
      kill(-1, SIGKILL);
      if (write(fds.status, &status, sizeof status) < 0) _exit(126);
      // Reaped here, so that what they used is counted as ours.
      while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
      }
      _exit(0);
    }
    siginfo_t info;
    if (sigwaitinfo(&awaited, &info) == SIGTERM) kill(-1, SIGTERM);
  }
}

}  // namespace

void RunSandbox(const SandboxPlan& plan, const SandboxFds& fds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int* fd : {&fds.output, &fds.report, &fds.status, &fds.go, &fds.null}) {
    if (*fd < 3) _exit(126);  // ours are above the standard streams, always
  }
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGTERM);
  sigaddset(&awaited, SIGCHLD);
  sigprocmask(SIG_SETMASK, &awaited, nullptr);
  SetUp(plan, fds);
  const long command = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (command == 0) RunCommand(plan, fds);
  if (command < 0) Fail(fds, kExec, errno);
  close(fds.output);
  close(fds.report);
  Reap(static_cast<pid_t>(command), fds, awaited);
}

}  // namespace hydrant::worker
