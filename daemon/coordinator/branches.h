// What the branches of a matrix's git source make: an evaluation and a channel each. Knows nothing of git.
#ifndef HYDRANT_DAEMON_COORDINATOR_BRANCHES_H_
#define HYDRANT_DAEMON_COORDINATOR_BRANCHES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/source/source.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// The branches that an evaluation at `point` is made for, at least one; "" is the default branch or a path.
// InvalidArgument when the source has no branches or revisions, or a revision is asked for and it is not
// clear in whose place; NotFound, with the nearest one, when the matrix does not name the branch.
absl::StatusOr<std::vector<std::string>> BranchesOf(const Matrix& matrix, const SourcePoint& point);

// FailedPrecondition when the matrix and one of `others` with another name would move the same channel.
absl::Status CheckChannels(const Matrix& matrix, const std::vector<const Matrix*>& others);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_COORDINATOR_BRANCHES_H_
