// The token in an Authorization header: "Bearer TOKEN", or "Basic" whose password is the token and whose user
// name is any.
#ifndef HYDRANT_DAEMON_SERVE_HTTP_TOKEN_H_
#define HYDRANT_DAEMON_SERVE_HTTP_TOKEN_H_

#include <optional>
#include <string>

#include "daemon/serve/http_message.h"

namespace hydrant {

// nullopt without the header; empty (which no token is) for one that cannot be read.
std::optional<std::string> TokenOf(const HttpRequest& request);

// 401 that asks for a token.
HttpResponse AskForToken(std::string_view text);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_SERVE_HTTP_TOKEN_H_
