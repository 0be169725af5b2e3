// A command in a root of its own: it sees what was mounted for it and nothing else, has no network but
// loopback, cannot gain rights, and nothing that it started outlives it. Linux namespaces; with root rights
// it runs as nobody, without them in a user namespace. Knows nothing of checks.
#ifndef HYDRANT_WORKER_CHECK_SANDBOX_H_
#define HYDRANT_WORKER_CHECK_SANDBOX_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/subprocess.h"
#include "lib/base/unique_fd.h"

namespace hydrant::worker {

// A file, folder or device of this machine at a place in the sandbox.
struct SandboxMount {
  std::string source, target;  // absolute
  bool writable = false;       // devices are, always
};

struct SandboxSpec {
  std::string root;       // an empty folder, where the new root is mounted
  std::string temporary;  // an existing folder: /tmp in the sandbox, its working folder; given to whom the
                          // command runs as
  std::vector<SandboxMount> mounts;        // beside /proc, /tmp and a minimal /dev
  std::vector<std::string> command;        // command[0] without a slash is looked up in PATH of `env`, inside
  std::map<std::string, std::string> env;  // all of it
  bool user_namespace = false;             // also with root rights
};

class SandboxedProcess {
 public:
  struct Result {
    ExitStatus exit;
    absl::Duration cpu;
    int64_t max_memory_bytes = 0;  // of its largest process
  };

  // NotFound: the command is not there. Else an error names the step that failed. Its end is bound to the
  // calling thread's.
  static absl::StatusOr<std::unique_ptr<SandboxedProcess>> Start(const SandboxSpec& spec);
  // Kills what is left.
  ~SandboxedProcess();

  // Both outputs of the command; at its end once nobody in the sandbox lives.
  int output_fd() const { return output_.get(); }
  // The sandbox's first process as this machine numbers it.
  pid_t pid() const { return pid_; }
  void Terminate();  // SIGTERM to all in it
  void Kill();       // SIGKILL
  Result Wait();     // blocks until nothing lives; once

 private:
  SandboxedProcess() = default;
  pid_t pid_ = -1;
  UniqueFd output_, status_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_CHECK_SANDBOX_H_
