// What the Nix daemon says between a request and its reply: log messages, activities, an error. Numbers and
// layout: Nix's worker-protocol.hh.
#ifndef HYDRANT_LIB_NIX_DAEMON_LOG_H_
#define HYDRANT_LIB_NIX_DAEMON_LOG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/nix/ansi_codes.h"
#include "lib/nix/daemon_event.h"
#include "lib/nix/daemon_format.h"

namespace hydrant::nix {

// What a daemon before 1.23 that asks for at most so many bytes of an archive gets.
using LogUpload = std::function<absl::Status(uint64_t most)>;

// Reads until the daemon is ready to reply, each event to `log` (may be empty). The daemon's error becomes a
// status without ANSI codes: NotFound for a path that is not valid, PermissionDenied for a missing right,
// ResourceExhausted for a full disk, Unavailable for a daemon that was told to end, else Internal; `in` stays
// usable then.
absl::Status ReadDaemonLog(WireReader& in, uint64_t minor, const LogSink& log,
                           const LogUpload& upload = nullptr);

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_LOG_H_
