// Keeps an evaluation's derivations from garbage collection: one link each in a real folder under the store's
// gcroots, since Nix follows no link to a folder elsewhere. A derivation keeps its inputs' derivations, so
// only top ones are kept.
#ifndef HYDRANT_DAEMON_EVALUATE_GC_ROOTS_H_
#define HYDRANT_DAEMON_EVALUATE_GC_ROOTS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace hydrant {

class GcRoots {
 public:
  explicit GcRoots(std::string store_root) : store_root_(std::move(store_root)) {}

  // Makes the folder of `root`. InvalidArgument unless `root` is a plain file name.
  absl::Status Open(const std::string& root) const;
  // `path`: as the store's own name is, /nix/store/…. Again: OK.
  absl::Status Keep(const std::string& root, std::string_view path) const;
  void Release(const std::string& root) const;
  std::string Folder(const std::string& root) const;

 private:
  const std::string store_root_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_GC_ROOTS_H_
