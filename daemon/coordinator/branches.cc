#include "daemon/coordinator/branches.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "lib/matrix/channel_names.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant {

absl::StatusOr<std::vector<std::string>> BranchesOf(const Matrix& matrix, const SourcePoint& point) {
  const std::vector<std::string>& declared = matrix.source.branches;
  if (matrix.source.git.empty() && !(point.branch.empty() && point.revision.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the source of ", matrix.name, " is a path: it has no branches and no revisions"));
  }
  if (!point.branch.empty()) {
    if (std::find(declared.begin(), declared.end(), point.branch) != declared.end())
      return std::vector{point.branch};
    return absl::NotFoundError(absl::StrCat("'", point.branch, "' is none of the branches of ", matrix.name,
                                            declared.empty()
                                                ? "; it names none, and a revision can be asked for"
                                                : NearestHint(point.branch, declared)));
  }
  if (!point.revision.empty() && declared.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(matrix.name, " has ", declared.size(),
                     " branches: for a revision name the one whose place it takes"));
  }
  return declared.empty() ? std::vector<std::string>{""} : declared;
}

absl::Status CheckChannels(const Matrix& matrix, const std::vector<const Matrix*>& others) {
  std::map<std::string, std::string> owners;
  for (const Matrix* other : others) {
    if (other->name == matrix.name) continue;
    for (const auto& [channel, branch] : ChannelsOf(*other))
      owners[channel] = absl::StrCat("matrix ", other->name);
  }
  for (const auto& [channel, branch] : ChannelsOf(matrix)) {
    const auto owner = owners.find(channel);
    if (owner == owners.end()) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        matrix.name, branch.empty() ? "" : absl::StrCat(", branch ", branch), ": its channel would be ",
        channel, ", which is that of ", owner->second, "; give the matrix another name"));
  }
  return absl::OkStatus();
}

}  // namespace hydrant
