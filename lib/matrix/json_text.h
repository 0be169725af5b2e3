// JSON by hand, where a whole library would be too much: quoting, and numbers that read back the same.
#ifndef HYDRANT_LIB_MATRIX_JSON_TEXT_H_
#define HYDRANT_LIB_MATRIX_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace hydrant {

// "…" with quotes, backslashes and control characters escaped; UTF-8 stays as it is.
std::string JsonQuoted(std::string_view text);

// The shortest text that reads back as the same finite number, with a point or exponent, so that it stays a
// float.
std::string JsonFloat(double value);

}  // namespace hydrant

#endif  // HYDRANT_LIB_MATRIX_JSON_TEXT_H_
