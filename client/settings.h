// Which farm to talk to and as whom: from arguments, the environment and the user's file, in this order.
#ifndef HYDRANT_CLIENT_SETTINGS_H_
#define HYDRANT_CLIENT_SETTINGS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hydrant::client {

inline constexpr char kDefaultServer[] = "127.0.0.1:8581";

struct ServerSettings {
  std::string server = kDefaultServer;  // HOST:PORT
  std::string token;                    // empty: none, a reader on loopback
  std::string tls_ca, tls_cert, tls_key;
};

// Variables by name; what is absent is not set.
using Environment = std::map<std::string, std::string>;

// The arguments --server and --token-file; empty: not given.
struct ServerArguments {
  std::string server, token_file;
};

// NotFound or InvalidArgument names the file, and in the user's file the line, that is wrong. A token is
// never taken from an argument: those can be read by everybody on the machine.
absl::StatusOr<ServerSettings> ReadSettings(const ServerArguments& arguments, const Environment& environment);

// $XDG_CONFIG_HOME/hydrant/config.toml, else $HOME/.config/hydrant/config.toml; empty when neither is set.
std::string SettingsPath(const Environment& environment);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_SETTINGS_H_
