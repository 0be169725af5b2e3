// A source whose reading an interrupt (SIGINT, SIGTERM, SIGHUP) ends with an error instead of the process, so
// that what was begun can be undone.
#ifndef HYDRANT_CLIENT_INTERRUPTIBLE_SOURCE_H_
#define HYDRANT_CLIENT_INTERRUPTIBLE_SOURCE_H_

#include <signal.h>

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "lib/base/fd_stream.h"
#include "lib/base/unique_fd.h"

namespace hydrant::client {

// While it lives the signals are blocked in the thread that made it, which is the one that may use it.
class InterruptibleSource final : public Source {
 public:
  InterruptibleSource(int fd, std::string name);
  ~InterruptibleSource() override;
  // Cancelled when a signal came; else as FdSource.
  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  int fd_;
  FdSource source_;
  sigset_t before_;
  UniqueFd signals_;
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_INTERRUPTIBLE_SOURCE_H_
