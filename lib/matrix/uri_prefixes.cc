#include "lib/matrix/uri_prefixes.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hydrant {
namespace {

constexpr size_t kLongest = 2048;

bool IsScheme(std::string_view text) {
  if (text.empty() || !absl::ascii_islower(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '+' || c == '-' || c == '.';
  });
}

}  // namespace

std::string UriPrefixFault(std::string_view prefix) {
  if (prefix.size() > kLongest) return absl::StrCat("longer than ", kLongest, " bytes");
  // In Nix's settings a space divides and a # begins a comment.
  const bool visible = std::all_of(prefix.begin(), prefix.end(), [](unsigned char c) {
    return c > ' ' && c < 0x7f && c != '#' && c != '\\';
  });
  if (!visible) return "has a space, a #, a backslash or a character outside ASCII";
  const size_t colon = prefix.find(':');
  if (colon == std::string_view::npos || !IsScheme(prefix.substr(0, colon)) || colon + 1 == prefix.size()) {
    return "is no prefix of an address; expected one such as \"https://github.com/NixOS/\"";
  }
  const std::string_view rest = prefix.substr(colon + 1);
  if (rest.find("..") != std::string_view::npos) return "has '..' in it";
  const bool has_authority = rest.starts_with("//");
  if (has_authority && prefix.substr(0, colon) != "file" && (rest.size() == 2 || rest[2] == '/'))
    return "names no host";
  if (prefix.substr(0, colon) == "file" && rest.find_first_not_of('/') == std::string_view::npos)
    return "names no folder";
  return "";
}

bool UriPrefixCovers(std::string_view prefix, std::string_view uri) {
  if (prefix.empty() || !uri.starts_with(prefix)) return false;
  return uri.size() == prefix.size() || prefix.ends_with('/') || uri[prefix.size()] == '/';
}

std::vector<std::string> UncoveredUris(const std::vector<std::string>& asked,
                                       const std::vector<std::string>& permitted) {
  std::vector<std::string> uncovered;
  for (const std::string& uri : asked) {
    const auto covers = [&](const std::string& prefix) { return UriPrefixCovers(prefix, uri); };
    if (std::none_of(permitted.begin(), permitted.end(), covers)) uncovered.push_back(uri);
  }
  return uncovered;
}

std::string UriRefusal(const std::vector<std::string>& asked, const std::vector<std::string>& permitted) {
  const std::vector<std::string> uncovered = UncoveredUris(asked, permitted);
  if (uncovered.empty()) return "";
  return absl::StrCat("[nixpkgs] allowed_uris asks for ", absl::StrJoin(uncovered, ", "),
                      "; this farm permits ", permitted.empty() ? "none" : absl::StrJoin(permitted, ", "),
                      " ([nix] allowed_uris of hydrantd)");
}

}  // namespace hydrant
