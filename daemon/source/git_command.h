// One call of the git program, shut in: no configuration of a user or the machine, no question to anybody, no
// hook, no submodule, bounded in time, memory and the size of a file. Knows nothing of what is fetched.
#ifndef HYDRANT_DAEMON_SOURCE_GIT_COMMAND_H_
#define HYDRANT_DAEMON_SOURCE_GIT_COMMAND_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/matrix/git_address.h"

namespace hydrant {

class GitCommand {
 public:
  struct Options {
    std::string home;         // private; ~/.netrc and ~/.ssh of it are where credentials may stand
    std::string search_path;  // PATH; "": ours
    absl::Duration timeout = absl::Minutes(30);
    uint64_t max_file_bytes = uint64_t{8} << 30;  // of a pack or a file: all of nixpkgs' history has 5 GB
    uint64_t max_memory_bytes = uint64_t{4} << 30;
  };
  explicit GitCommand(Options options) : options_(std::move(options)) {}

  // The same, whose calls end with Cancelled soon after `cancelled`, which must outlive it, becomes true.
  GitCommand Until(const std::atomic<bool>& cancelled) const;

  // What it wrote to its standard output. FailedPrecondition when there is no git, DeadlineExceeded, else
  // GitError's.
  absl::StatusOr<std::string> Run(const GitAddress& address, std::vector<std::string> words,
                                  std::map<std::string, std::string> env = {}) const;

  const Options& options() const { return options_; }

 private:
  Options options_;
  const std::atomic<bool>* cancelled_ = nullptr;
};

// What git's words on its standard error mean: Unavailable (a remote that does not answer), PermissionDenied,
// NotFound (no repository, or no such commit), ResourceExhausted (disk, size, memory), InvalidArgument,
// FailedPrecondition (the server does not give this commit by itself), DataLoss (our own copy is damaged),
// else Internal. One line, without passwords and control characters.
absl::Status GitError(const GitAddress& address, std::string_view err);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_GIT_COMMAND_H_
