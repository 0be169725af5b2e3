#include "client/settings.h"

#include <toml++/toml.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"

namespace hydrant::client {
namespace {

struct UserFile {
  std::string server, token_file, tls_ca, tls_cert, tls_key;
};

absl::Status ErrorAt(const std::string& path, uint32_t line, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": ", AbslView(what)));
}

using Keys = std::vector<std::pair<std::string, std::string*>>;

// Every key of `table` is one of `keys` (a text) or of `tables`.
absl::Status ReadKeys(const std::string& path, const std::string& where, const toml::table& table,
                      const Keys& keys, const std::vector<std::string>& tables) {
  for (const auto& [key, node] : table) {
    std::vector<std::string> known = tables;
    std::string* target = nullptr;
    for (const auto& [name, text] : keys) {
      known.push_back(name);
      if (name == key.str()) target = text;
    }
    const std::string name(key.str());
    if (target == nullptr && std::find(tables.begin(), tables.end(), name) != tables.end()) continue;
    if (target == nullptr) {
      return ErrorAt(path, key.source().begin.line,
                     absl::StrCat(where, " has no key '", name, "'", NearestHint(name, known),
                                  " (known: ", absl::StrJoin(known, ", "), ")"));
    }
    const auto value = node.value_exact<std::string>();
    if (!value) return ErrorAt(path, node.source().begin.line, absl::StrCat(name, ": expected a string"));
    *target = *value;
  }
  return absl::OkStatus();
}

absl::StatusOr<UserFile> ReadUserFile(const std::string& path) {
  UserFile file;
  if (path.empty() || !FileExists(path)) return file;
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return ErrorAt(path, error.source().begin.line, error.description());
  }
  HYDRANT_RETURN_IF_ERROR(ReadKeys(path, "the top level", table,
                                   {{"server", &file.server}, {"token_file", &file.token_file}}, {"tls"}));
  const toml::node* tls = table.get("tls");
  if (tls == nullptr) return file;
  if (!tls->is_table()) return ErrorAt(path, tls->source().begin.line, "tls: expected a table, [tls]");
  HYDRANT_RETURN_IF_ERROR(ReadKeys(path, "[tls]", *tls->as_table(),
                                   {{"ca", &file.tls_ca}, {"cert", &file.tls_cert}, {"key", &file.tls_key}},
                                   {}));
  return file;
}

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  HYDRANT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const std::string token(absl::StripAsciiWhitespace(text));
  if (token.empty() || token.find_first_of(" \t\r\n") != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected one token and nothing else"));
  }
  return token;
}

std::string Get(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

}  // namespace

std::string SettingsPath(const Environment& environment) {
  const std::string xdg = Get(environment, "XDG_CONFIG_HOME"), home = Get(environment, "HOME");
  if (!xdg.empty()) return xdg + "/hydrant/config.toml";
  return home.empty() ? "" : home + "/.config/hydrant/config.toml";
}

absl::StatusOr<ServerSettings> ReadSettings(const ServerArguments& arguments,
                                            const Environment& environment) {
  HYDRANT_ASSIGN_OR_RETURN(const UserFile file, ReadUserFile(SettingsPath(environment)));
  ServerSettings settings{.tls_ca = file.tls_ca, .tls_cert = file.tls_cert, .tls_key = file.tls_key};
  for (const std::string& server : {arguments.server, Get(environment, "HYDRANT_SERVER"), file.server}) {
    if (server.empty()) continue;
    settings.server = server;
    break;
  }
  const std::string token = Get(environment, "HYDRANT_TOKEN");
  if (!arguments.token_file.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(settings.token, ReadTokenFile(arguments.token_file));
  } else if (!token.empty()) {
    settings.token = token;
  } else if (!file.token_file.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(settings.token, ReadTokenFile(file.token_file));
  }
  return settings;
}

}  // namespace hydrant::client
