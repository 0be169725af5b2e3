// What retry and cancel are about, checked and taken apart.
#ifndef HYDRANT_CLIENT_COMMANDS_SELECTION_H_
#define HYDRANT_CLIENT_COMMANDS_SELECTION_H_

#include "absl/status/statusor.h"
#include "client/commands/verbs.h"

namespace hydrant::client {

// "MATRIX/GLOB" becomes a matrix and a glob. InvalidArgument when nothing is selected, or two matrices are.
absl::StatusOr<SelectionOptions> Resolve(SelectionOptions options);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_COMMANDS_SELECTION_H_
