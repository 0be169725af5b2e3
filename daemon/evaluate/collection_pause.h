// Keeps a store's garbage collector from beginning while it lives: so that a path that is there and gets a root is
// still there afterwards. Rule: Nix's libstore/gc.cc, which holds gc.lock exclusively while it collects and shared
// while it registers a root.
#ifndef HYDRANT_DAEMON_EVALUATE_COLLECTION_PAUSE_H_
#define HYDRANT_DAEMON_EVALUATE_COLLECTION_PAUSE_H_

#include <string>

#include "lib/base/unique_fd.h"

namespace hydrant {

class CollectionPause {
 public:
  // Does not wait. Where the lock is another user's it pauses nothing: what is lost in that moment is an outcome
  // without its derivation, which the evaluation tells as unknown.
  explicit CollectionPause(const std::string& store_root);
  // False while a collector runs: what is there may be gone in a moment.
  bool holds() const { return holds_; }

 private:
  UniqueFd lock_;
  bool holds_ = true;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_COLLECTION_PAUSE_H_
