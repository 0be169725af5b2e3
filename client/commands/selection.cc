#include "client/commands/selection.h"

#include "absl/strings/str_cat.h"

namespace hydrant::client {

absl::StatusOr<SelectionOptions> Resolve(SelectionOptions options) {
  if (options.address.empty() && options.matrix.empty() && options.of.evaluation == 0) {
    if (!options.of.branch.empty())
      return absl::InvalidArgumentError("--branch is of a matrix: name that too");
    return absl::InvalidArgumentError(
        "nothing is selected: name a variant, a glob or a .drv path, or give --matrix or --eval");
  }
  const size_t slash = options.address.find('/');
  const bool glob =
      options.address.find_first_of("*?[") != std::string::npos || options.address.find("/@") == slash;
  if (slash == std::string::npos || slash == 0 || !glob) return options;
  const std::string matrix = options.address.substr(0, slash);
  if (!options.matrix.empty() && options.matrix != matrix) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", options.address, "' names matrix '", matrix, "', --matrix '", options.matrix, "'"));
  }
  options.matrix = matrix;
  options.address = options.address.substr(slash + 1);
  return options;
}

}  // namespace hydrant::client
