// Reads .drv files of a store, breadth-first from some roots, and remembers each for ever: a derivation is
// immutable.
#ifndef HYDRANT_DAEMON_EVALUATE_DERIVATION_CLOSURE_H_
#define HYDRANT_DAEMON_EVALUATE_DERIVATION_CLOSURE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "lib/base/mutex.h"
#include "lib/nix/derivation.h"

namespace hydrant {

struct LoadedDerivation {
  std::string path;
  std::string aterm;
  nix::Derivation parsed;
};

class DerivationClosure {
 public:
  // `store_root`: the folder that holds nix/store; "" for the machine's own.
  explicit DerivationClosure(std::string store_root) : store_root_(std::move(store_root)) {}

  // One derivation. NotFound, or InvalidArgument with the path and the offset of what is wrong. Any thread.
  absl::StatusOr<std::shared_ptr<const LoadedDerivation>> Load(const std::string& path);
  // All that the roots need, inputs before those that use them, each once.
  absl::StatusOr<std::vector<std::shared_ptr<const LoadedDerivation>>> LoadAll(
      const std::vector<std::string>& roots);

 private:
  const std::string store_root_;
  Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<const LoadedDerivation>> loaded_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DERIVATION_CLOSURE_H_
