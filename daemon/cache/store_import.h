// Brings paths of hydrantd's own Nix store (sources that derivations take as input) into the cache as staged,
// with all they refer to, so that workers can fetch them.
#ifndef HYDRANT_DAEMON_CACHE_STORE_IMPORT_H_
#define HYDRANT_DAEMON_CACHE_STORE_IMPORT_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "daemon/cache/publisher.h"
#include "lib/nix/daemon_client.h"

namespace hydrant {

class StoreImport {
 public:
  using Connect = std::function<absl::StatusOr<std::unique_ptr<nix::DaemonClient>>()>;
  StoreImport(Connect connect, NarIntake& intake, Publisher& publisher)
      : connect_(std::move(connect)), intake_(intake), publisher_(publisher) {}

  // Stages each path and its closure unless it is here or upstream. NotFound names a path that the store
  // lacks. One thread.
  absl::Status Import(const std::set<std::string>& paths);

 private:
  Connect connect_;
  NarIntake& intake_;
  Publisher& publisher_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_CACHE_STORE_IMPORT_H_
