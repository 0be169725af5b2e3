// A folder of this machine becomes a path of the daemon's Nix store. Knows nothing of git.
#ifndef HYDRANT_DAEMON_SOURCE_PATH_SOURCE_H_
#define HYDRANT_DAEMON_SOURCE_PATH_SOURCE_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "daemon/source/source.h"
#include "lib/base/subprocess.h"
#include "lib/nix/command_environment.h"

namespace hydrant {

class PathSource final : public TreeSource {
 public:
  explicit PathSource(nix::CommandSettings settings) : settings_(std::move(settings)) {}

  // FailedPrecondition when there is no Nix.
  absl::StatusOr<Tree> Snapshot(const SourceSpec& spec, const std::string& root) override;
  void Release(const std::string& root) override;

 private:
  absl::StatusOr<std::string> Nix(std::vector<std::string> argv) const;
  absl::StatusOr<Tree> AddAndKeep(const std::string& path, const std::string& folder) const;
  std::string RootFolder(const std::string& root) const;

  const nix::CommandSettings settings_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SOURCE_PATH_SOURCE_H_
