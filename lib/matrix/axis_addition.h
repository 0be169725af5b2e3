// One more value of an axis of a matrix, as `plan --add` asks for it. Pure.
#ifndef HYDRANT_LIB_MATRIX_AXIS_ADDITION_H_
#define HYDRANT_LIB_MATRIX_AXIS_ADDITION_H_

#include <string_view>

#include "absl/status/status.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// `text` is AXIS=VALUE: "cuda=13.1", "capabilities=8.9+9.0a", "package=magma"; the value comes last. Ids of
// variants that are there already stay as they are (but for a package whose name two packages would then
// share). InvalidArgument: no such axis (the nearest is told), one that the matrix does not declare (each
// variant's id would change), no value of it, or one that is there already.
absl::Status AddAxisValue(std::string_view text, Matrix* matrix);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_AXIS_ADDITION_H_
