// The folder of matrix files that hydrantd applies at its start and on SIGHUP.
#ifndef HYDRANT_DAEMON_MATRIX_FOLDER_H_
#define HYDRANT_DAEMON_MATRIX_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "daemon/coordinator/coordinator.h"

namespace hydrant {

// Applies every *.toml of `folder` (absent or empty: none), all or none: the first error names its file and key, and nothing changed.
absl::Status ApplyMatrixFolder(const std::string& folder, const std::string& system, Coordinator& coordinator);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_MATRIX_FOLDER_H_
