// What cannot be of compute capabilities, known before any work: the refusal that names the rule, its source
// and the way out. Knows nothing of packages; the data is in capabilities.h.
#ifndef HYDRANT_LIB_MATRIX_RULES_H_
#define HYDRANT_LIB_MATRIX_RULES_H_

#include <map>
#include <optional>
#include <string>

#include "lib/matrix/capabilities.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// Why the slice's capabilities cannot be: the rule, its source and what could be. nullopt when they can, or
// when nothing is known of them: with a CUDA that the rules do not know (or "default") only what holds for
// every CUDA is judged.
std::optional<std::string> CapabilityRefusal(const std::map<std::string, AxisValue>& axes);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_RULES_H_
