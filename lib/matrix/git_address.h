// Where a git source is fetched from. Only what git itself can reach over https, http, ssh, git or this
// machine's files: no transport helper, no option in an address's clothes.
#ifndef HYDRANT_LIB_MATRIX_GIT_ADDRESS_H_
#define HYDRANT_LIB_MATRIX_GIT_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hydrant {

struct GitAddress {
  std::string url;        // what git is told
  std::string shown;      // the same without user and password
  std::string directory;  // of this machine; empty for a remote one
};

// InvalidArgument says what an address looks like. An absolute path is a file:// address.
absl::StatusOr<GitAddress> ParseGitAddress(std::string_view text);

// By the rules of git-check-ref-format(1), and no option.
bool IsRefName(std::string_view name);

// "" for what can be the name of a branch, else what is wrong with it and, of a full ref, what its name is.
std::string BranchFault(std::string_view name);

// 40 hexadecimal digits.
bool IsCommit(std::string_view word);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_GIT_ADDRESS_H_
