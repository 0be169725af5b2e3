// A SandboxSpec made ready for the child of a process with many threads, which may neither allocate nor lock:
// every text is there before the child is.
#ifndef HYDRANT_WORKER_CHECK_SANDBOX_PLAN_H_
#define HYDRANT_WORKER_CHECK_SANDBOX_PLAN_H_

#include <sys/types.h>

#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/check/sandbox.h"

namespace hydrant::worker {

// One act of setting the root up.
struct SandboxStep {
  enum class Kind { kMakeFolder, kMakeFile, kSymlink, kMount };
  Kind kind;
  const char* path = nullptr;    // what is made, or mounted on
  const char* source = nullptr;  // kMount, kSymlink
  const char* type = nullptr;    // kMount
  unsigned long flags = 0;       // kMount
  const char* data = nullptr;    // kMount
};

struct SandboxPlan {
  std::vector<SandboxStep> steps;
  const char* root = nullptr;
  bool user_namespace = false;
  uid_t uid = 0;  // whom the command runs as, without a user namespace
  gid_t gid = 0;
  std::vector<char*> argv, envp, candidates;  // null-terminated
  std::deque<std::string> texts;              // what the pointers point to

  // "mount /nix/store" for messages.
  std::string Describe(int step) const;
};

// Descriptors of the child; all close on exec.
struct SandboxFds {
  int output = -1;  // the command's outputs
  int report = -1;  // a SandboxFailure, when a step fails
  int status = -1;  // the wait status of the command
  int go = -1;      // read: end of file once the ids are mapped
  int null = -1;    // /dev/null
};

// Beyond the numbers of steps.
enum SandboxStage : int { kNamespace = -1, kRoot = -2, kRights = -3, kExec = -4 };
struct SandboxFailure {
  int step = 0;
  int error_number = 0;
};

absl::StatusOr<SandboxPlan> PlanSandbox(const SandboxSpec& spec);

// In the child, first in its PID namespace: sets up, starts the command, reaps until it ended, ends all
// others.
[[noreturn]] void RunSandbox(const SandboxPlan& plan, const SandboxFds& fds);

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_CHECK_SANDBOX_PLAN_H_
