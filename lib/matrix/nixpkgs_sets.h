// Overlays and settings of nixpkgs that differ from slice to slice: named sets of a matrix, of which the axes
// `overlays` and `config` choose one each. Pure.
#ifndef HYDRANT_LIB_MATRIX_NIXPKGS_SETS_H_
#define HYDRANT_LIB_MATRIX_NIXPKGS_SETS_H_

#include <map>
#include <string>
#include <vector>

#include "lib/matrix/matrix.h"

namespace hydrant {

// Whether a value of the axis names a set: "overlays" and "config", where a built-in recipe evaluates or the
// matrix has such sets. Otherwise these are axes that a recipe of one's own understands.
bool IsSetAxis(const NixpkgsSpec& nixpkgs, const std::string& axis);

// "" when the axis is none of sets or the value names one, else what is wrong and the nearest right thing.
// "default" stands for what the whole matrix has.
std::string SetFault(const NixpkgsSpec& nixpkgs, const std::string& axis, const AxisValue& value);

// The sets that the axes of a slice choose; null: what the whole matrix has, and no more.
const std::vector<Overlay>* OverlaySetOf(const NixpkgsSpec& nixpkgs,
                                         const std::map<std::string, AxisValue>& axes);
const std::string* ConfigSetOf(const NixpkgsSpec& nixpkgs,
                               const std::map<std::string, AxisValue>& axes);  // JSON

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_NIXPKGS_SETS_H_
