// Makes tokens and adds them to the file of [auth] tokens.
#ifndef HYDRANT_DAEMON_SERVE_TOKENS_FILE_H_
#define HYDRANT_DAEMON_SERVE_TOKENS_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/serve/authenticator.h"

namespace hydrant {

// 32 random bytes in base32, behind "hydrant_".
std::string NewToken();

// Adds a line to the file at `path`, which is made with mode 0600 when absent. AlreadyExists: the name is
// taken; InvalidArgument: a name that is empty or has blanks or #, or a file that is wrong (it stays as it
// is).
absl::Status AddToken(const std::string& path, std::string_view name, Role role, std::string_view token);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_TOKENS_FILE_H_
