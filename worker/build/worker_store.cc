#include "worker/build/worker_store.h"

#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"

namespace hydrant::worker {
namespace {

// Settings that hold whatever nix.conf this machine has. Source: the Nix 2.8 manual, "nix.conf".
std::map<std::string, std::string> Settings(const WorkerStore::Options& options, const AttemptLimits& limits,
                                            bool own_daemon) {
  std::map<std::string, std::string> settings = {
      {"sandbox", "true"},
      {"sandbox-fallback", "false"},
      {"sandbox-paths", absl::StrJoin(options.sandbox_paths, " ")},
      {"substituters", ""},
      {"keep-build-log", "false"},
      {"system-features", absl::StrJoin(options.features, " ")},
      {"extra-platforms", absl::StrJoin(options.systems, " ")},
      {"max-build-log-size", absl::StrCat(limits.max_log_bytes)},
  };
  // Build users are shared by all stores of a machine, and a store of ours has one user: us.
  if (own_daemon) settings["build-users-group"] = "";
  return settings;
}

std::string DaemonSocket() {
  const char* named = getenv("NIX_DAEMON_SOCKET_PATH");
  return named != nullptr && *named != '\0' ? named : "/nix/var/nix/daemon-socket/socket";
}

}  // namespace

absl::StatusOr<std::unique_ptr<nix::DaemonClient>> WorkerStore::Connect(const AttemptLimits& limits) const {
  nix::DaemonClient::Options options;
  const std::string socket = DaemonSocket();
  const bool own_daemon = is_folder() || !FileExists(socket);
  const auto settings = Settings(options_, limits, own_daemon);
  if (own_daemon) {
    if (is_folder()) options.store_root = options_.store;
    for (const auto& [key, value] : settings) absl::StrAppend(&options.nix_config, key, " = ", value, "\n");
    options.env = {{"NIX_REMOTE", ""},
                   {"NIX_CONF_DIR", options_.scratch},
                   {"NIX_USER_CONF_FILES", ""},
                   {"HOME", options_.scratch},
                   {"XDG_CACHE_HOME", options_.scratch}};
  } else {
    options.socket = socket;
  }
  HYDRANT_ASSIGN_OR_RETURN(std::unique_ptr<nix::DaemonClient> client,
                           nix::DaemonClient::Connect(std::move(options)));
  nix::DaemonSettings sent;
  sent.max_silent = limits.max_silent;
  sent.timeout = limits.timeout;
  sent.build_cores = options_.build_cores;
  if (!own_daemon) sent.overrides = settings;
  HYDRANT_RETURN_IF_ERROR(client->SetOptions(sent));
  return client;
}

std::string WorkerStore::RealPath(std::string_view store_path) const {
  return absl::StrCat(is_folder() ? options_.store : "", AbslView(store_path));
}

absl::StatusOr<std::string> WorkerStore::CheckTrust() const {
  HYDRANT_ASSIGN_OR_RETURN(const std::unique_ptr<nix::DaemonClient> client, Connect());
  // An input-addressed derivation for a system that does not exist: who is trusted is told that it cannot be
  // built, who is not is refused before. Nothing is left behind.
  constexpr std::string_view kOutput = "/nix/store/00000000000000000000000000000000-hydrant-trust-probe";
  nix::BasicDerivation probe;
  probe.outputs["out"].path = kOutput;
  probe.system = "hydrant-trust-probe";
  probe.builder = "/bin/sh";
  probe.environment = {{"name", "hydrant-trust-probe"}, {"out", std::string(kOutput)}};
  const auto result = client->BuildDerivation(absl::StrCat(AbslView(kOutput), ".drv"), probe, {});
  if (!result.ok() && absl::StrContains(result.status().message(), "not privileged")) {
    return absl::PermissionDeniedError(
        "the Nix daemon does not trust this user: add it to trusted-users in nix.conf, or give the worker a "
        "store of its own "
        "([nix] store = \"FOLDER\")");
  }
  return client->daemon_version();
}

std::string DefaultSandboxShell() {
  for (const char* busybox : {"/bin/busybox", "/usr/bin/busybox"}) {
    if (access(busybox, X_OK) == 0) return absl::StrCat("/bin/sh=", busybox);
  }
  return "";
}

}  // namespace hydrant::worker
