// Reads what a matrix asks for beside its cells: [gate], [[check]], [limits], [license], [audit], [schedule].
// Errors go where the table readers put theirs.
#ifndef HYDRANT_LIB_MATRIX_POLICY_READER_H_
#define HYDRANT_LIB_MATRIX_POLICY_READER_H_

#include "lib/matrix/matrix.h"
#include "lib/matrix/table_reader.h"

namespace hydrant {

// After the groups.
void ReadGate(const TomlNode& table, ReadErrors* errors, Matrix* matrix);
void ReadCheck(const TomlNode& table, ReadErrors* errors, Matrix* matrix);
void ReadLimits(const TomlNode& table, ReadErrors* errors, Matrix* matrix);

void ReadLicence(const TomlNode& table, ReadErrors* errors, Matrix* matrix);
void ReadAudit(const TomlNode& table, ReadErrors* errors, Matrix* matrix);
void ReadSchedule(const TomlNode& table, ReadErrors* errors, Matrix* matrix);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_POLICY_READER_H_
