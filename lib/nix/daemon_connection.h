// How a DaemonClient reaches its daemon: a Unix socket, or a `nix-daemon --stdio` of its own; and the
// protocol's handshake.
#ifndef HYDRANT_LIB_NIX_DAEMON_CONNECTION_H_
#define HYDRANT_LIB_NIX_DAEMON_CONNECTION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/mutex.h"
#include "lib/base/subprocess.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_wire.h"

namespace hydrant::nix {

class DaemonConnection {
 public:
  // As DaemonClient::Connect; the handshake is done.
  static absl::StatusOr<std::unique_ptr<DaemonConnection>> Open(const DaemonClient::Options& options);
  ~DaemonConnection() { Close(); }

  DaemonWire& wire() { return *wire_; }
  const DaemonProtocol& protocol() const { return protocol_; }
  const std::string& daemon_version() const { return daemon_version_; }
  std::optional<bool> trusted() const { return trusted_; }
  pid_t daemon_pid() const { return daemon_pid_; }
  void Close();  // any thread

 private:
  absl::Status Reach(const DaemonClient::Options& options);
  absl::Status ConnectSocket(const std::string& path);
  absl::Status StartDaemon(const DaemonClient::Options& options);
  absl::Status Handshake(uint64_t newest_minor, absl::Duration reply_timeout);
  // The end of what a daemon of ours wrote to its standard error.
  std::string LastWords() const;

  std::unique_ptr<DaemonWire> wire_;
  DaemonProtocol protocol_;
  std::optional<bool> trusted_;
  std::string daemon_version_;
  pid_t daemon_pid_ = -1;
  UniqueFd daemon_stderr_;  // a file in memory
  Mutex mu_;
  std::unique_ptr<Subprocess> daemon_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_CONNECTION_H_
