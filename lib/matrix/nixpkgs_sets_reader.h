// Reads [nixpkgs.overlay_sets] and [nixpkgs.config_sets], and judges settings of nixpkgs. Errors go where the
// table readers put theirs.
#ifndef HYDRANT_LIB_MATRIX_NIXPKGS_SETS_READER_H_
#define HYDRANT_LIB_MATRIX_NIXPKGS_SETS_READER_H_

#include <functional>
#include <string>

#include "lib/matrix/matrix.h"
#include "lib/matrix/table_reader.h"

namespace hydrant {

// The text of a file that a member of a table names.
using NamedFileText =
    std::function<std::string(TableReader* reader, const TomlMember& member, const std::string& path)>;

// Each a table NAME = [files].
void ReadOverlaySets(const TomlNode& table, const NamedFileText& text_of, ReadErrors* errors, Matrix* matrix);

// Each a table of settings.
void ReadConfigSets(const TomlNode& table, ReadErrors* errors, Matrix* matrix);

// After the axes: settings must not say what an axis says. `nixpkgs` is the table.
void CheckSettings(const TomlNode& nixpkgs, const Matrix& matrix, ReadErrors* errors);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_NIXPKGS_SETS_READER_H_
