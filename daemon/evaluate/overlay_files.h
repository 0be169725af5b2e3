// The overlays of a matrix as files that Nix reads. Knows nothing of who reads them.
#ifndef HYDRANT_DAEMON_EVALUATE_OVERLAY_FILES_H_
#define HYDRANT_DAEMON_EVALUATE_OVERLAY_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// Writes them below `folder`, each under the last part of its own name, so that errors name it; their
// absolute paths, in the same order. An error names the file that could not be written.
absl::StatusOr<std::vector<std::string>> WriteOverlays(const std::vector<Overlay>& overlays,
                                                       const std::string& folder);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_OVERLAY_FILES_H_
