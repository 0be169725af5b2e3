#include "lib/nix/daemon_client.h"

#include "lib/base/status_macros.h"
#include "lib/nix/daemon_call.h"
#include "lib/nix/daemon_encoding.h"

namespace hydrant::nix {

using enum DaemonOperation;

// NOLINTNEXTLINE(performance-unnecessary-value-param): Options are taken by value everywhere.
absl::StatusOr<std::unique_ptr<DaemonClient>> DaemonClient::Connect(Options options) {
  HYDRANT_ASSIGN_OR_RETURN(auto connection, DaemonConnection::Open(options));
  return std::unique_ptr<DaemonClient>(
      new DaemonClient(std::make_unique<Impl>(std::move(connection), options)));
}

DaemonClient::DaemonClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DaemonClient::~DaemonClient() = default;
uint64_t DaemonClient::protocol_version() const { return kProtocolMajor << 8 | protocol().minor; }
const DaemonProtocol& DaemonClient::protocol() const { return impl_->protocol(); }
const std::string& DaemonClient::daemon_version() const { return impl_->connection().daemon_version(); }
std::optional<bool> DaemonClient::trusted() const { return impl_->connection().trusted(); }
pid_t DaemonClient::daemon_pid() const { return impl_->connection().daemon_pid(); }
void DaemonClient::Close() { impl_->connection().Close(); }

absl::Status DaemonClient::SetOptions(const DaemonSettings& settings) {
  HYDRANT_RETURN_IF_ERROR(impl_->Begin(kSetOptions));
  PutSettings(impl_->out(), settings);
  return impl_->Ask();
}

}  // namespace hydrant::nix
