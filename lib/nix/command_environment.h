// The environment of a Nix command of ours: of the user's variables only those pass that find Nix, its store
// and temporary space, and no nix.conf of a user counts. What a tree reads with builtins.getEnv is therefore
// the same everywhere.
#ifndef HYDRANT_LIB_NIX_COMMAND_ENVIRONMENT_H_
#define HYDRANT_LIB_NIX_COMMAND_ENVIRONMENT_H_

#include <stdlib.h>

#include <map>
#include <string>

namespace hydrant::nix {

struct CommandSettings {
  std::string
      store_root;  // the folder that holds nix/store; "": the machine's own store, as the machine is set up
  std::string folder;       // private: home and caches
  std::string search_path;  // PATH; "": ours
  std::string more_config;  // further lines of nix.conf
};

// For Subprocess::Options::env, with clear_env.
inline std::map<std::string, std::string> CommandEnvironment(const CommandSettings& settings) {
  std::map<std::string, std::string> env = {{"HOME", settings.folder + "/home"},
                                            {"XDG_CACHE_HOME", settings.folder + "/cache"},
                                            {"LC_ALL", "C.UTF-8"},
                                            {"PATH", settings.search_path}};
  std::string config = "experimental-features = nix-command\nsubstituters =\n";
  const auto pass = [&](const char* name) {
    if (const char* value = getenv(name); value != nullptr) env[name] = value;
  };
  for (const char* name : {"TMPDIR", "NIX_SSL_CERT_FILE", "SSL_CERT_FILE"}) pass(name);
  if (settings.search_path.empty()) pass("PATH");
  if (settings.store_root.empty()) {
    for (const char* name : {"NIX_REMOTE", "NIX_CONF_DIR", "NIX_DAEMON_SOCKET_PATH"}) pass(name);
  } else {
    env["NIX_REMOTE"] = settings.store_root;
    env["NIX_CONF_DIR"] = settings.folder + "/no-conf";
    config +=
        "build-users-group =\n";  // they are shared by all stores of a machine, and this one has one user: us
  }
  env["NIX_CONFIG"] = config + settings.more_config;
  return env;
}

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_COMMAND_ENVIRONMENT_H_
