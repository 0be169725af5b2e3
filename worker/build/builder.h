// Realises one derivation. Knows nothing of leases, of caches or of how its inputs came here.
#ifndef HYDRANT_WORKER_BUILD_BUILDER_H_
#define HYDRANT_WORKER_BUILD_BUILDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/failure/cause.h"
#include "lib/nix/derivation.h"
#include "worker/build/cancellation.h"
#include "worker/build/limits.h"
#include "worker/build/store_session.h"

namespace hydrant::worker {

struct BuildRequest {
  std::string derivation_path;
  nix::Derivation derivation;
  std::vector<std::string> input_paths;  // valid in the store
  AttemptLimits limits;
};

// cause kNone: all outputs are valid in the store now.
struct BuildOutcome {
  Cause cause = Cause::kNone;
  std::string message;           // the decisive line
  int nix_status = -1;           // BuildResult::status; -1: the builder was not reached
  absl::Duration cpu;            // zero: not known
  int64_t max_memory_bytes = 0;  // 0: not known
  int64_t log_bytes = 0;
};

// A .drv file with all that it refers to.
struct DerivationFile {
  std::string path, aterm;
  std::vector<std::string> references;
};

using LogCallback = std::function<void(std::string_view bytes)>;

class Builder {
 public:
  virtual ~Builder() = default;
  // True when every output is valid already; they are kept from garbage collection while `session` lives.
  virtual absl::StatusOr<bool> IsBuilt(StoreSession& session, const nix::Derivation& derivation) = 0;
  // True when the .drv file, and so its whole closure, is valid in the store.
  virtual absl::StatusOr<bool> HasDerivation(StoreSession& session, const std::string& derivation_path) = 0;
  // Puts .drv files, references before referrers, into the store.
  virtual absl::Status AddDerivations(StoreSession& session, const std::vector<DerivationFile>& files) = 0;
  // Blocks until it ended. The log comes as the builder prints it, in the calling thread or another, never
  // two at once. A cancelled build has cause kCancelled, and no process of it is left. After any failure the
  // session may be closed.
  virtual BuildOutcome Build(StoreSession& session, const BuildRequest& request, const LogCallback& log,
                             Cancellation& cancellation) = 0;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_BUILDER_H_
