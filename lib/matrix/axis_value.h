// Whether a text can be a value of an axis. Pure; knows nothing of where the text stands.
#ifndef HYDRANT_LIB_MATRIX_AXIS_VALUE_H_
#define HYDRANT_LIB_MATRIX_AXIS_VALUE_H_

#include <string>

#include "lib/matrix/matrix.h"

namespace hydrant {

// Beside `package`, and those that a matrix declares for itself.
bool IsKnownAxis(const std::string& name);

// "" when the axis can have the value, else what is wrong with it and the nearest right thing.
std::string AxisValueFault(const std::string& axis, const AxisValue& value);

// The same of a text as a command line or an id has it: "8.9+9.0a" for capabilities, an attribute path for
// `package`.
// `*value` is set when there is no fault.
std::string ReadAxisValue(const std::string& axis, const std::string& text, AxisValue* value);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_AXIS_VALUE_H_
