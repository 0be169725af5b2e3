#include "daemon/serve/tokens_file.h"

#include <stdlib.h>
#include <sys/random.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/hash.h"

namespace hydrant {

std::string NewToken() {
  std::string bytes(32, '\0');
  // Never short for so few bytes; without randomness there is nothing sensible to go on with.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) abort();
  return absl::StrCat("hydrant_", nix::ToBase32(bytes));
}

absl::Status AddToken(const std::string& path, std::string_view name, Role role, std::string_view token) {
  const auto blank = [](char c) { return absl::ascii_isspace(c) || absl::ascii_iscntrl(c) || c == '#'; };
  if (name.empty() || std::any_of(name.begin(), name.end(), blank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("token name \"", AbslView(name), "\": expected a word without blanks or #"));
  }
  std::string text;
  if (FileExists(path)) {
    HYDRANT_ASSIGN_OR_RETURN(text, ReadFile(path));
    HYDRANT_ASSIGN_OR_RETURN(const std::vector<TokenEntry> entries, ParseTokens(text, path));
    if (std::any_of(entries.begin(), entries.end(),
                    [&](const TokenEntry& entry) { return entry.name == name; })) {
      return absl::AlreadyExistsError(
          absl::StrCat(path, " has a token named \"", AbslView(name), "\" already"));
    }
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  absl::StrAppend(&text, AbslView(name), " ", AbslView(RoleName(role)), " ",
                  nix::HashSha256(token).ToBase16(), "\n");
  return WriteFileAtomically(path, text, 0600);
}

}  // namespace hydrant
