// Reads a matrix file (TOML, design: interface.md). The only place of lib/matrix that knows TOML.
#ifndef HYDRANT_LIB_MATRIX_MATRIX_READER_H_
#define HYDRANT_LIB_MATRIX_MATRIX_READER_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "lib/matrix/matrix.h"

namespace hydrant {

struct MatrixText {
  std::string toml;
  // Files that it names (recipe, overlays), by the path as written, so that a matrix travels whole.
  std::map<std::string, std::string> files;
};

// `file` is how errors name the text ("m.toml:7: [axes] has no key 'cudda'; the nearest is 'cuda' (known:
// …)"); paths are relative to `directory`. InvalidArgument with the first error, which names line, key, what
// was expected and the nearest right thing.
absl::StatusOr<Matrix> ReadMatrix(const MatrixText& text, std::string_view file, std::string_view directory);

// Reads the file and those that it names. NotFound names a file that is missing.
absl::StatusOr<MatrixText> LoadMatrixFile(const std::string& path);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_MATRIX_READER_H_
