// What is worth a word about a matrix although nothing is wrong with it: lists that say what is the default
// anyway, names that no table knows, rules that hold in some trees only.
#ifndef HYDRANT_LIB_MATRIX_NOTES_H_
#define HYDRANT_LIB_MATRIX_NOTES_H_

#include <string>
#include <vector>

#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

// The most notes that a matrix gets; the last one then says how many there are more.
inline constexpr size_t kMaxNotes = 40;

// Each once, in a stable order, one line each.
std::vector<std::string> NotesOf(const Matrix& matrix, const Expansion& expansion);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_NOTES_H_
