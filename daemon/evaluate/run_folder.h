// A folder of one evaluation, gone with the object.
#ifndef HYDRANT_DAEMON_EVALUATE_RUN_FOLDER_H_
#define HYDRANT_DAEMON_EVALUATE_RUN_FOLDER_H_

#include <errno.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant {

class RunFolder {
 public:
  static absl::StatusOr<std::unique_ptr<RunFolder>> Make(const std::string& parent) {
    std::string path = parent + "/run-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, "make folder " + path);
    return std::unique_ptr<RunFolder>(new RunFolder(path));
  }
  ~RunFolder() { RemoveTree(path_).IgnoreError(); }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_RUN_FOLDER_H_
