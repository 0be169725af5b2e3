// Early returns for absl::Status and absl::StatusOr, which this Abseil lacks.
#ifndef HYDRANT_LIB_BASE_STATUS_MACROS_H_
#define HYDRANT_LIB_BASE_STATUS_MACROS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace hydrant {

// The same code, with `context` and ": " before the message: "read matrix.toml: no such file".
inline absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(absl::string_view(context.data(), context.size()), ": ",
                                                  status.message()));
}

// absl::string_view is a type of its own in Debian's Abseil: the edge in both directions.
inline absl::string_view AbslView(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view StdView(absl::string_view s) { return {s.data(), s.size()}; }

}  // namespace hydrant

#define HYDRANT_CONCAT_INNER(a, b) a##b
#define HYDRANT_CONCAT(a, b) HYDRANT_CONCAT_INNER(a, b)

// Returns the status from the calling function unless it is OK.
#define HYDRANT_RETURN_IF_ERROR(expr)              \
  do {                                             \
    if (absl::Status _status = (expr); !_status.ok()) return _status; \
  } while (false)

// HYDRANT_ASSIGN_OR_RETURN(auto x, F()): x gets F()'s value, or the calling function returns F()'s status.
#define HYDRANT_ASSIGN_OR_RETURN(lhs, expr) \
  HYDRANT_ASSIGN_OR_RETURN_IMPL(HYDRANT_CONCAT(_status_or_, __LINE__), lhs, expr)
#define HYDRANT_ASSIGN_OR_RETURN_IMPL(var, lhs, expr) \
  auto var = (expr);                                  \
  if (!var.ok()) return std::move(var).status();      \
  lhs = *std::move(var)

#endif  // HYDRANT_LIB_BASE_STATUS_MACROS_H_
