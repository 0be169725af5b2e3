// One request to a Nix daemon and its reply: what every operation of DaemonClient is made of. Knows which
// waits are bounded by what; knows no operation.
#ifndef HYDRANT_LIB_NIX_DAEMON_CALL_H_
#define HYDRANT_LIB_NIX_DAEMON_CALL_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_connection.h"
#include "lib/nix/daemon_log.h"

namespace hydrant::nix {

class DaemonClient::Impl {
 public:
  Impl(std::unique_ptr<DaemonConnection> connection, const Options& options)
      : connection_(std::move(connection)),
        wire_(connection_->wire()),
        reply_timeout_(options.reply_timeout),
        work_timeout_(options.work_timeout) {}

  DaemonConnection& connection() { return *connection_; }
  const DaemonProtocol& protocol() const { return connection_->protocol(); }
  WireReader& in() { return wire_; }
  WireWriter& out() { return wire_.out(); }

  // Puts the number of a request, when the protocol has it and the connection is in step.
  absl::Status Begin(DaemonOperation operation);
  // As Begin, with the store path that the request is about. Nix ends the connection over text that is none.
  absl::Status BeginWithPath(DaemonOperation operation, std::string_view path);
  // As Begin, with what is to be made.
  absl::Status BeginWithTargets(DaemonOperation operation, const std::vector<DerivedPath>& paths);
  // InvalidArgument when it is not named as the negotiated protocol names it.
  absl::Status CheckOutputId(const DerivationOutputId& id) const;

  // Sends what was put, and reads up to the reply: of a daemon that only has to look, or that has to work.
  absl::Status Ask(const LogSink& log = nullptr);
  absl::Status Work(const LogSink& log);
  // The same with what follows the request: in frames, or for daemons before 1.23 when they ask for it.
  absl::Status Upload(Source& source, DaemonWire::OnFailure on_failure);
  absl::Status UploadOnDemand(Source& source);
  // Reads the number that says "done".
  absl::Status ReadDone() { return wire_.ReadNumber().status(); }

  // Asks `count` times with few waits: put(i) puts a request, read(i) reads up to the end of its reply. The
  // first error that is the daemon's answer is returned after all.
  absl::Status Pipeline(size_t count, const std::function<absl::Status(size_t)>& put,
                        const std::function<absl::Status(size_t)>& read);

 private:
  absl::Status AwaitAnswer(const LogSink& log, const LogUpload& upload = nullptr);

  std::unique_ptr<DaemonConnection> connection_;
  DaemonWire& wire_;
  const absl::Duration reply_timeout_, work_timeout_;
};

// What IsValidPath would deny.
absl::Status NotValidError(std::string_view path);
// InvalidArgument names the first that is no store path.
absl::Status CheckStorePaths(const std::set<std::string>& paths);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_CALL_H_
