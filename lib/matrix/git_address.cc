#include "lib/matrix/git_address.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"

namespace hydrant {
namespace {

constexpr size_t kMaxAddress = 2048;
constexpr size_t kMaxRefName = 250;

absl::Status Refuse(std::string_view shown, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("git source '", AbslView(shown.substr(0, 200)),
                                                 "': ", AbslView(why),
                                                 "; an address is https://…, http://…, ssh://…, git://…, "
                                                 "USER@HOST:PATH, file:///… or an absolute path"));
}

bool IsPrintable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

// "user:secret@host/…" without what stands before the last @ of its host part.
std::string_view WithoutUser(std::string_view rest) {
  const size_t at = rest.substr(0, rest.find('/')).rfind('@');
  return at == std::string_view::npos ? rest : rest.substr(at + 1);
}

absl::StatusOr<GitAddress> OfThisMachine(std::string_view path) {
  // Git decodes a file:// address, and what is allowed is judged by the path as it stands.
  if (path.find('%') != std::string_view::npos) return Refuse(path, "a path with % is not served");
  return GitAddress{.url = absl::StrCat("file://", AbslView(path)),
                    .shown = absl::StrCat("file://", AbslView(path)),
                    .directory = std::string(path)};
}

absl::StatusOr<GitAddress> OfScheme(std::string_view text, size_t colon) {
  const std::string_view scheme = text.substr(0, colon), rest = text.substr(colon + 3);
  const std::string shown = absl::StrCat(AbslView(scheme), "://", AbslView(WithoutUser(rest)));
  if (scheme == "file") {
    if (!rest.starts_with('/')) return Refuse(shown, "file:// is followed by an absolute path");
    return OfThisMachine(rest);
  }
  if (scheme != "https" && scheme != "http" && scheme != "ssh" && scheme != "git")
    return Refuse(shown, absl::StrCat("'", AbslView(scheme), "' is not one of https, http, ssh, git, file"));
  const std::string_view host = WithoutUser(rest);
  if (host.empty() || host.starts_with('/')) return Refuse(shown, "it names no host");
  if (host.starts_with('-') || rest.starts_with('-')) return Refuse(shown, "a host does not begin with -");
  return GitAddress{.url = std::string(text), .shown = shown, .directory = ""};
}

}  // namespace

absl::StatusOr<GitAddress> ParseGitAddress(std::string_view text) {
  if (text.empty()) return Refuse(text, "it is empty");
  if (text.size() > kMaxAddress) return Refuse(text, "it is longer than 2048 bytes");
  if (!IsPrintable(text)) return Refuse("", "it has a space or a control character");
  if (text.starts_with('-')) return Refuse(text, "it begins with -");
  if (text.starts_with('/')) return OfThisMachine(text);
  const size_t slash = text.find('/'), colon = text.find(':');
  if (colon == std::string_view::npos || slash < colon) return Refuse(text, "it is a relative path");
  if (text.substr(colon).starts_with("://")) return OfScheme(text, colon);
  if (text.substr(colon).starts_with("::")) return Refuse(text, "transport helpers are not served");
  const std::string_view host = text.substr(0, colon);
  if (host == "github" || host == "gitlab")
    return Refuse(text, absl::StrCat("a flake's address is not one of git's: https://", AbslView(host),
                                     ".com/", AbslView(text.substr(colon + 1))));
  if (WithoutUser(host).empty() || WithoutUser(host).starts_with('-'))
    return Refuse(text, "it names no host");
  return GitAddress{.url = std::string(text), .shown = std::string(WithoutUser(text)), .directory = ""};
}

bool IsRefName(std::string_view name) {
  if (name.empty() || name.size() > kMaxRefName || name == "@") return false;
  if (name.starts_with('-') || name.starts_with('/') || name.ends_with('/') || name.ends_with('.'))
    return false;
  for (std::string_view bad : {"..", "//", "@{", "/.", ".lock/"}) {
    if (name.find(bad) != std::string_view::npos) return false;
  }
  if (name.starts_with('.') || name.ends_with(".lock")) return false;
  return IsPrintable(name) && name.find_first_of("~^:?*[\\") == std::string_view::npos;
}

std::string BranchFault(std::string_view name) {
  constexpr std::string_view kHeads = "refs/heads/";
  if (name.size() > kMaxRefName)
    return absl::StrCat("a branch of ", name.size(), " bytes; at most ", kMaxRefName, " are served");
  const std::string quoted = absl::StrCat("'", AbslView(name), "'");
  if (!IsRefName(name))
    return quoted + " is not a branch; expected what git-check-ref-format(1) allows, such as nixos-unstable";
  if (!name.starts_with(kHeads)) return "";
  return absl::StrCat(quoted, " is not a branch but the ref of one; the nearest is '",
                      AbslView(name.substr(kHeads.size())), "'");
}

bool IsCommit(std::string_view word) {
  return word.size() == 40 &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) { return absl::ascii_isxdigit(c); });
}

}  // namespace hydrant
