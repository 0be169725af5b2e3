// How variants are called: NAME@AXES. Knows which parts an id has; nothing of which variants there are.
#ifndef HYDRANT_LIB_MATRIX_VARIANT_ID_H_
#define HYDRANT_LIB_MATRIX_VARIANT_ID_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/matrix/matrix.h"

namespace hydrant {

// The AXES part: "cuda12.9-py313-cap8.9+9.0a-mpi=true-x86_64-linux"; an axis at "default" is left out.
std::string AxesText(const std::map<std::string, AxisValue>& axes);

// The NAME of each package, in their order: without a leading "python3Packages.", unless two would be called
// the same.
std::vector<std::string> VariantNames(const std::vector<std::string>& packages);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_VARIANT_ID_H_
