// StripAnsi of classify.h into a buffer that is used again.
#ifndef HYDRANT_LIB_FAILURE_STRIP_ANSI_H_
#define HYDRANT_LIB_FAILURE_STRIP_ANSI_H_

#include <string>
#include <string_view>

namespace hydrant {

void StripAnsi(std::string_view text, std::string* clean);

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_STRIP_ANSI_H_
