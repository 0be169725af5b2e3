// Reads .drv files of a store with all that they need, and remembers each for ever, linked to its inputs: a
// derivation is immutable.
#ifndef HYDRANT_DAEMON_EVALUATE_DERIVATION_CLOSURE_H_
#define HYDRANT_DAEMON_EVALUATE_DERIVATION_CLOSURE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
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

// With all that it needs read as well.
struct LinkedDerivation {
  std::shared_ptr<const LoadedDerivation> loaded;
  std::vector<const LinkedDerivation*> inputs;  // each once
  uint32_t number = 0;                          // of its closure's: dense, from 0
  std::set<std::string> required_features;      // of the system that builds it
  // Why it can never be built here, or something that it needs cannot; "": it can.
  std::string unbuildable;
};

// Some of them, as they were asked for, and all that they need: inputs before those that use them, each once.
// Numbers are in that order too, over all of a closure's.
struct LinkedClosure {
  std::vector<const LinkedDerivation*> roots, all;
};

// Which derivations of a closure, by number.
using DerivationMarks = std::vector<bool>;

class DerivationClosure {
 public:
  // `store_root`: the folder that holds nix/store; "" for the machine's own.
  explicit DerivationClosure(std::string store_root) : store_root_(std::move(store_root)) {}

  // One derivation. NotFound, or InvalidArgument with the path and the offset of what is wrong. Any thread.
  absl::StatusOr<std::shared_ptr<const LoadedDerivation>> Load(const std::string& path);
  // All that the roots need, inputs before those that use them, each once.
  absl::StatusOr<std::vector<std::shared_ptr<const LoadedDerivation>>> LoadAll(
      const std::vector<std::string>& roots);
  // The same, linked: what was read before costs no look at its path. They live as long as this. What is in
  // `without`, with all that it needs, is not among `all`.
  absl::StatusOr<LinkedClosure> Link(const std::vector<std::string>& roots,
                                     const DerivationMarks& without = {}) ABSL_LOCKS_EXCLUDED(mu_);
  // Derivations that somebody else has read: they are not read again. Gives those of them of which all that
  // they need is known, linked, inputs before those that use them.
  std::vector<const LinkedDerivation*> Know(
      const std::vector<std::shared_ptr<const LoadedDerivation>>& derivations) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // `load` gives what is not linked yet.
  using Loading =
      std::function<absl::StatusOr<std::shared_ptr<const LoadedDerivation>>(const std::string& path)>;
  absl::Status LinkNew(const std::string& root, const Loading& load) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Enter(std::shared_ptr<const LoadedDerivation> loaded) ABSL_LOCKS_EXCLUDED(mu_);
  bool IsLinked(std::string_view path) const ABSL_LOCKS_EXCLUDED(mu_);

  const std::string store_root_;
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<const LoadedDerivation>> loaded_ ABSL_GUARDED_BY(mu_);
  std::deque<LinkedDerivation> nodes_ ABSL_GUARDED_BY(mu_);  // by number; constant once they are in linked_
  absl::flat_hash_map<absl::string_view, const LinkedDerivation*> linked_ ABSL_GUARDED_BY(mu_);  // by path
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_DERIVATION_CLOSURE_H_
