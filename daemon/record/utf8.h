// Text as the record keeps it: UTF-8 without NUL, by PostgreSQL's rules (no surrogates, nothing overlong).
// Pure.
#ifndef HYDRANT_DAEMON_RECORD_UTF8_H_
#define HYDRANT_DAEMON_RECORD_UTF8_H_

#include <string>
#include <string_view>

namespace hydrant {

bool IsCleanUtf8(std::string_view text);

// For prose that a builder or evaluator wrote: each byte that does not belong becomes U+FFFD, each NUL goes.
std::string CleanUtf8(std::string_view text);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_RECORD_UTF8_H_
