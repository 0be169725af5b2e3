#include "daemon/serve/http_token.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "lib/base/status_macros.h"

namespace hydrant {

std::optional<std::string> TokenOf(const HttpRequest& request) {
  const auto header = request.Header("Authorization");
  if (!header) return std::nullopt;
  const size_t blank = header->find(' ');
  if (blank == header->npos) return "";
  const absl::string_view scheme = AbslView(header->substr(0, blank));
  const absl::string_view rest = absl::StripAsciiWhitespace(AbslView(header->substr(blank + 1)));
  if (absl::EqualsIgnoreCase(scheme, "Bearer")) return std::string(rest);
  std::string user_and_password;
  if (!absl::EqualsIgnoreCase(scheme, "Basic") || !absl::Base64Unescape(rest, &user_and_password)) return "";
  const size_t colon = user_and_password.find(':');
  return colon == user_and_password.npos ? "" : user_and_password.substr(colon + 1);
}

HttpResponse AskForToken(std::string_view text) {
  HttpResponse response = TextResponse(401, text);
  response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"hydrant\"");
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace hydrant
