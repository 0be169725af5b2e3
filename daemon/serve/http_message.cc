#include "daemon/serve/http_message.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string_view> HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (absl::EqualsIgnoreCase(key, AbslView(name))) return value;
  }
  return std::nullopt;
}

HttpResponse TextResponse(int status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
  response.body = std::string(text) + "\n";
  return response;
}

absl::StatusOr<std::pair<std::string, std::string>> SplitTarget(std::string_view target) {
  if (target.empty() || target[0] != '/')
    return absl::InvalidArgumentError("the request's target is not a path");
  const size_t mark = target.find('?');
  const std::string_view raw = target.substr(0, mark);
  std::string path;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '%') {
      path += raw[i];
      continue;
    }
    const int high = i + 1 < raw.size() ? HexDigit(raw[i + 1]) : -1;
    const int low = i + 2 < raw.size() ? HexDigit(raw[i + 2]) : -1;
    if (high < 0 || low < 0)
      return absl::InvalidArgumentError("a % in the path is not followed by two hex digits");
    if (high == 0 && low == 0) return absl::InvalidArgumentError("the path has a NUL in it");
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return std::pair(path, mark == target.npos ? "" : std::string(target.substr(mark + 1)));
}

}  // namespace hydrant
