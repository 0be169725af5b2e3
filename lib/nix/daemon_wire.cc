#include "lib/nix/daemon_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/sigpipe_block.h"
#include "lib/base/status_macros.h"

namespace hydrant::nix {
namespace {

using std::chrono::steady_clock;

constexpr size_t kBlock = 64 << 10;
// What the daemon may say while we send it an archive: only log lines.
constexpr size_t kMaxUnread = 16 << 20;

void MakeNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Beyond a year is never.
constexpr absl::Duration kNever = absl::Hours(24 * 365);

}  // namespace

DaemonWire::DaemonWire(UniqueFd in, UniqueFd out)
    : in_(std::move(in)), out_(std::move(out)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  MakeNonBlocking(in_.get());
  MakeNonBlocking(out_.get());
}

void DaemonWire::set_deadline(absl::Duration from_now) {
  call_end_ =
      from_now < kNever ? steady_clock::now() + absl::ToChronoNanoseconds(from_now) : SteadyTime::max();
}

void DaemonWire::Interrupt() {
  if (interrupted_.exchange(true)) return;
  const uint64_t one = 1;
  if (write(wake_.get(), &one, sizeof one) < 0) return;  // cannot be: the counter was 0
  shutdown(out_.get(), SHUT_RDWR);
  // Closes a pipe for the daemon while the number stays ours, so that a call in another thread writes to
  // nobody else.
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.valid()) dup3(null.get(), out_.get(), O_CLOEXEC);
}

absl::Status DaemonWire::PeerGone(std::string_view how) {
  if (interrupted_) return Break(absl::CancelledError("the connection to the Nix daemon was closed"));
  const std::string said = broken().ok() && epitaph_ ? epitaph_() : "";
  return Break(absl::UnavailableError(absl::StrCat(AbslView(how), said.empty() ? "" : "; it said: ", said)));
}

absl::StatusOr<int> DaemonWire::MillisecondsLeft() {
  absl::Duration left = timeout_ - waited_;
  if (left <= absl::ZeroDuration()) {
    return Break(absl::DeadlineExceededError(
        absl::StrCat("the Nix daemon moved too little for ", absl::FormatDuration(timeout_))));
  }
  if (call_end_ != SteadyTime::max()) {
    left = std::min(left, absl::FromChrono(call_end_ - steady_clock::now()));
    if (left <= absl::ZeroDuration())
      return Break(absl::DeadlineExceededError("the Nix daemon did not answer in time"));
  }
  if (left >= kNever) return -1;
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(left) + 1, 1 << 30));
}

absl::StatusOr<bool> DaemonWire::Poll(bool want_write) {
  while (true) {
    if (interrupted_) return PeerGone("");
    pollfd fds[] = {{wake_.get(), POLLIN, 0},
                    {peer_ended_ ? -1 : in_.get(), POLLIN, 0},
                    {want_write ? out_.get() : -1, POLLOUT, 0},
                    {process_.valid() ? process_.get() : -1, POLLIN, 0}};
    HYDRANT_ASSIGN_OR_RETURN(const int timeout, MillisecondsLeft());
    const SteadyTime before = steady_clock::now();
    const int ready = poll(fds, std::size(fds), timeout);
    const int error_number = errno;
    waited_ += absl::FromChrono(steady_clock::now() - before);
    if (ready < 0 && error_number == EINTR) continue;
    if (ready < 0)
      return Break(absl::InternalError(absl::StrCat("wait for the Nix daemon: ", strerror(error_number))));
    if (ready == 0 || fds[0].revents != 0) continue;
    if (fds[1].revents != 0) return true;
    if (fds[3].revents != 0) return PeerGone("the Nix daemon's process ended");
    return false;
  }
}

absl::StatusOr<size_t> DaemonWire::ReadSome() {
  const ssize_t n = read(in_.get(), Room(kBlock), kBlock);
  const int error_number = errno;
  if (n > 0) {
    Added(static_cast<size_t>(n));
    return static_cast<size_t>(n);
  }
  if (n < 0 && (error_number == EAGAIN || error_number == EINTR)) return size_t{0};
  peer_ended_ = true;
  return absl::UnavailableError(n == 0 ? std::string("the Nix daemon closed the connection")
                                       : absl::StrCat("read from the Nix daemon: ", strerror(error_number)));
}

absl::Status DaemonWire::Fill() {
  HYDRANT_RETURN_IF_ERROR(broken());
  if (interrupted_) return PeerGone("");
  if (peer_ended_) return PeerGone("the Nix daemon closed the connection");
  HYDRANT_RETURN_IF_ERROR(MillisecondsLeft().status());  // also a peer that is always ready has its limit
  while (true) {
    const absl::StatusOr<size_t> n = ReadSome();
    if (!n.ok()) return PeerGone(StdView(n.status().message()));
    if (*n > 0) return absl::OkStatus();
    HYDRANT_RETURN_IF_ERROR(Poll(false).status());
  }
}

absl::Status DaemonWire::Flush() { return Send(pending_.Take()); }

absl::Status DaemonWire::Slurp() {
  const absl::StatusOr<size_t> n = ReadSome();
  if (!n.ok())
    return absl::OkStatus();  // the write will tell, and what was said before the end is still to be read
  if (unread() > kMaxUnread) return Garbled("log without end while it should listen");
  return absl::OkStatus();
}

// Reads while it writes: a daemon that cannot get rid of its log does not listen.
absl::Status DaemonWire::Send(std::string_view bytes) {
  HYDRANT_RETURN_IF_ERROR(broken());
  SigpipeBlock no_sigpipe;
  size_t in_element = 0;
  BeginElement();
  while (!bytes.empty()) {
    if (interrupted_) return PeerGone("");
    const ssize_t n = write(out_.get(), bytes.data(), bytes.size());
    const int error_number = errno;
    if (n >= 0) {
      bytes.remove_prefix(n);
      in_element += n;
      if (in_element >= kBlock) BeginElement();
      if (in_element >= kBlock) in_element = 0;
    } else if (error_number == EAGAIN) {
      HYDRANT_ASSIGN_OR_RETURN(const bool readable, Poll(true));
      if (readable) HYDRANT_RETURN_IF_ERROR(Slurp());
    } else if (error_number != EINTR) {
      return PeerGone(absl::StrCat("write to the Nix daemon: ", strerror(error_number)));
    }
  }
  return absl::OkStatus();
}

absl::Status DaemonWire::SendFrames(Source& source, OnFailure on_failure) {
  HYDRANT_RETURN_IF_ERROR(Flush());
  std::vector<char> block(kBlock);
  absl::Status source_status;
  while (true) {
    const absl::StatusOr<size_t> n = source.Read(block);
    if (!n.ok() && on_failure == OnFailure::kBreak) return Break(n.status());
    if (!n.ok()) source_status = n.status();
    const size_t length = n.ok() ? *n : 0;
    pending_.PutNumber(length);
    pending_.PutBytes(std::string_view(block.data(), length));
    HYDRANT_RETURN_IF_ERROR(Flush());
    if (length == 0) return source_status;
  }
}

}  // namespace hydrant::nix
