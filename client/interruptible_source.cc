#include "client/interruptible_source.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <utility>

namespace hydrant::client {

InterruptibleSource::InterruptibleSource(int fd, std::string name) : fd_(fd), source_(fd, std::move(name)) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  signals_.Reset(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

InterruptibleSource::~InterruptibleSource() {
  signalfd_siginfo taken;
  while (signals_.valid() && read(signals_.get(), &taken, sizeof taken) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

absl::StatusOr<size_t> InterruptibleSource::Read(std::span<char> buffer) {
  pollfd ready[] = {{fd_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  while (poll(ready, 2, -1) < 0 && errno == EINTR) {
  }
  if ((ready[1].revents & POLLIN) != 0) return absl::CancelledError("interrupted");
  return source_.Read(buffer);
}

}  // namespace hydrant::client
