// Reads what spans the matrix: [axes], [groups], [[include]] and [[exclude]]. Errors go where the table
// readers put theirs.
#ifndef HYDRANT_LIB_MATRIX_AXES_READER_H_
#define HYDRANT_LIB_MATRIX_AXES_READER_H_

#include <string>
#include <string_view>
#include <vector>

#include "lib/matrix/matrix.h"
#include "lib/matrix/table_reader.h"

namespace hydrant {

// Fills packages and axes.
void ReadAxes(const TomlNode& table, ReadErrors* errors, Matrix* matrix);
void ReadGroups(const TomlNode& table, ReadErrors* errors, Matrix* matrix);

// After the axes and groups: they must name declared ones.
void CheckDerived(const TomlNode& axes, const Matrix& matrix, ReadErrors* errors);
void ReadInclude(const TomlNode& table, ReadErrors* errors, Matrix* matrix);
void ReadExclude(const TomlNode& table, ReadErrors* errors, Matrix* matrix);

// Complains of a "@group" that [groups] does not have; `where` is table and key.
void CheckGroups(const std::vector<std::string>& globs, int line, std::string_view where,
                 const Matrix& matrix, ReadErrors* errors);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_AXES_READER_H_
