// A matrix file as the verbs need it: read, checked, and ready to travel.
#ifndef HYDRANT_CLIENT_COMMANDS_MATRIX_FILE_H_
#define HYDRANT_CLIENT_COMMANDS_MATRIX_FILE_H_

#include <hydrant/v1/farm_service.pb.h>

#include <string>

#include "absl/status/statusor.h"
#include "lib/matrix/expansion.h"
#include "lib/matrix/matrix.h"

namespace hydrant::client {

struct MatrixFile {
  Matrix matrix;
  v1::MatrixText text;
};

// InvalidArgument with FILE:LINE of the first error; NotFound names a file that is missing.
absl::StatusOr<MatrixFile> ReadMatrixFile(const std::string& path);

// "x86_64-linux" and so on: the Nix system of this machine.
std::string LocalSystem();

// The grid of a matrix that was never evaluated: possible cells pending, the rest impossible with cause and
// reason.
v1::GetStatusResponse StatusOfExpansion(const Matrix& matrix, const Expansion& expansion);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_COMMANDS_MATRIX_FILE_H_
