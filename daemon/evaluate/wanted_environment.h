// Whether an evaluation also makes a Python environment with a variant's package in it.
#ifndef HYDRANT_DAEMON_EVALUATE_WANTED_ENVIRONMENT_H_
#define HYDRANT_DAEMON_EVALUATE_WANTED_ENVIRONMENT_H_

#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// True when a check of the matrix runs this variant in one.
bool WantsEnvironment(const Matrix& matrix, const Variant& variant);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_EVALUATE_WANTED_ENVIRONMENT_H_
