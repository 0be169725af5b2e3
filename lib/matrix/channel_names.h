// Which channels a matrix moves, by name.
#ifndef HYDRANT_LIB_MATRIX_CHANNEL_NAMES_H_
#define HYDRANT_LIB_MATRIX_CHANNEL_NAMES_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/matrix/matrix.h"

namespace hydrant {

// MATRIX, or MATRIX-BRANCH where the matrix names several; a slash within a branch is a dash there.
std::string ChannelName(const Matrix& matrix, const std::string& branch);

// Each channel of a matrix with the branch that moves it ("": the default branch, or a path), in the order of
// the matrix.
std::vector<std::pair<std::string, std::string>> ChannelsOf(const Matrix& matrix);

// "its branches a/b and a-b would both move the channel m-a-b", "" when no two do.
std::string ChannelFault(const Matrix& matrix);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_CHANNEL_NAMES_H_
