// The worker's folder for what it keeps and what it is working on. One program at a time has it.
#ifndef HYDRANT_WORKER_SPOOL_FOLDER_H_
#define HYDRANT_WORKER_SPOOL_FOLDER_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "lib/base/unique_fd.h"

namespace hydrant::worker {

class SpoolFolder {
 public:
  // Makes it and takes it, and empties its scratch folder. FailedPrecondition: another worker has it.
  static absl::StatusOr<std::unique_ptr<SpoolFolder>> Open(const std::string& path);

  std::string attempts() const { return path_ + "/attempts"; }
  std::string scratch() const { return path_ + "/scratch"; }  // gone at the next start

 private:
  SpoolFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  UniqueFd lock_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_SPOOL_FOLDER_H_
