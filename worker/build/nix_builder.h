// Builds one derivation through the Nix daemon protocol.
#ifndef HYDRANT_WORKER_BUILD_NIX_BUILDER_H_
#define HYDRANT_WORKER_BUILD_NIX_BUILDER_H_

#include <vector>

#include "worker/build/builder.h"

namespace hydrant::worker {

class NixBuilder final : public Builder {
 public:
  absl::StatusOr<bool> IsBuilt(StoreSession& session, const nix::Derivation& derivation) override;
  absl::StatusOr<bool> HasDerivation(StoreSession& session, const std::string& derivation_path) override;
  absl::Status AddDerivations(StoreSession& session, const std::vector<DerivationFile>& files) override;
  BuildOutcome Build(StoreSession& session, const BuildRequest& request, const LogCallback& log,
                     Cancellation& cancellation) override;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_BUILD_NIX_BUILDER_H_
