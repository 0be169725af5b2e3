// The only place of hydrantd that names every real thing: makes them, wires them, serves until a signal.
#ifndef HYDRANT_DAEMON_WIRING_H_
#define HYDRANT_DAEMON_WIRING_H_

#include "absl/status/status.h"
#include "daemon/config_reader.h"

namespace hydrant {

// Serves until SIGTERM or SIGINT (running attempts go on in the workers); SIGHUP reads the folder of matrices again.
// InvalidArgument: the configuration cannot be; anything else: what could not be made or reached, and where.
absl::Status ServeFarm(const DaemonOptions& options);

}  // namespace hydrant

#endif  // HYDRANT_DAEMON_WIRING_H_
