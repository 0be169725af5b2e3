// What the Nix daemon says between a request and its reply: log messages, activities, an error. Numbers and
// layout: Nix's worker-protocol.hh and logging.hh.
#ifndef HYDRANT_LIB_NIX_DAEMON_LOG_H_
#define HYDRANT_LIB_NIX_DAEMON_LOG_H_

#include <cstdint>

#include "absl/status/status.h"
#include "lib/base/stream.h"
#include "lib/nix/daemon_client.h"
#include "lib/nix/daemon_wire.h"

namespace hydrant::nix {

// Reads until the daemon is ready to reply, each event to `log` (may be empty). `upload` is what an old
// daemon that asks for data gets. The daemon's error becomes a status without ANSI codes: NotFound for a path
// that is not valid, PermissionDenied for a missing right, ResourceExhausted for a full disk, Unavailable for
// a daemon that was told to end, else Internal; the wire stays usable then.
absl::Status ReadDaemonLog(DaemonWire& wire, uint64_t minor, const LogSink& log, Source* upload = nullptr);

std::string WithoutAnsiCodes(std::string_view text);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_LOG_H_
