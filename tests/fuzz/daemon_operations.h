// What a client asks of a daemon in a fuzz input or a recording: operations by their number, with arguments
// that never change, so that a recorded answer fits when it is replayed.
#ifndef HYDRANT_TESTS_FUZZ_DAEMON_OPERATIONS_H_
#define HYDRANT_TESTS_FUZZ_DAEMON_OPERATIONS_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "lib/nix/daemon_client.h"

namespace hydrant::fuzz {

struct DaemonOperation {
  std::string_view name;
  absl::Status (*call)(nix::DaemonClient& client);
};

// An input's number is taken modulo their count. New ones go to the end: recordings hold numbers.
std::span<const DaemonOperation> DaemonOperations();

}  // namespace hydrant::fuzz

#endif  // HYDRANT_TESTS_FUZZ_DAEMON_OPERATIONS_H_
