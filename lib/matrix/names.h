// Which names are allowed: of matrices, checks and axes, of attribute paths. Pure.
#ifndef HYDRANT_LIB_MATRIX_NAMES_H_
#define HYDRANT_LIB_MATRIX_NAMES_H_

#include <string>
#include <string_view>

namespace hydrant {

// "" when `name` is [a-z0-9][a-z0-9._-]* of at most 100 bytes, else what is wrong with it.
std::string NameFault(std::string_view name);

// "" when `path` can be an attribute path: "python3Packages.torch". No spaces, patterns, '@' or empty part.
std::string AttributePathFault(std::string_view path);

// Whether the text has a character with a meaning in globs.
bool IsGlob(std::string_view text);

// "" when `word` is a compute capability as nixpkgs writes it: "8.9", "9.0a", "12.0f".
std::string CapabilityFault(std::string_view word);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_NAMES_H_
