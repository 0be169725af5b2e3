// Whole files and folders, with errors that name them.
#ifndef HYDRANT_LIB_BASE_FILE_H_
#define HYDRANT_LIB_BASE_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hydrant {

// NotFound, PermissionDenied, ResourceExhausted (no space, or a limit of size) or Internal by errno, "VERB PATH: strerror".
absl::Status ErrnoStatus(int error_number, std::string_view verb_and_path);

// ResourceExhausted when it has more than `most` bytes, of which no more are read.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     size_t most = std::numeric_limits<size_t>::max());

// Writes beside `path`, fsyncs, renames over it: readers see the old bytes or the new ones.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes, mode_t mode = 0644);

absl::Status MakeDirectories(const std::string& path, mode_t mode = 0755);

// Removes a tree, read-only folders (as in a Nix store) included. Absent: OK.
absl::Status RemoveTree(const std::string& path);

bool FileExists(const std::string& path);

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_FILE_H_
