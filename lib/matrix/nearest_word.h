// The word of a list that somebody most likely meant.
#ifndef HYDRANT_LIB_MATRIX_NEAREST_WORD_H_
#define HYDRANT_LIB_MATRIX_NEAREST_WORD_H_

#include <span>
#include <string>
#include <string_view>

namespace hydrant {

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
size_t EditDistance(std::string_view a, std::string_view b);

// "" when none is near: more than half of the longer word would have to change.
std::string NearestWord(std::string_view word, std::span<const std::string> known);

// "; the nearest is 'WORD'" for the end of an error, "" when none is.
std::string NearestHint(std::string_view word, std::span<const std::string> known);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_NEAREST_WORD_H_
