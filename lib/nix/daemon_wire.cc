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

constexpr uint64_t kMaxString = 64 << 20, kMaxStrings = 1 << 24;
constexpr size_t kBlock = 64 << 10;
// What the daemon may say while we send it an archive: only log lines.
constexpr size_t kMaxUnread = 64 << 20;

void AppendNumber(std::string& out, uint64_t number) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(number >> (8 * i));
}

void MakeNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

DaemonWire::DaemonWire(UniqueFd in, UniqueFd out)
    : in_(std::move(in)), out_(std::move(out)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  MakeNonBlocking(in_.get());
  MakeNonBlocking(out_.get());
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

absl::Status DaemonWire::Break(absl::Status status) {
  if (broken_.ok()) broken_ = std::move(status);
  return broken_;
}

absl::StatusOr<bool> DaemonWire::Poll(bool want_write) {
  while (true) {
    if (interrupted_) return Break(absl::CancelledError("the connection to the Nix daemon was closed"));
    pollfd fds[] = {{wake_.get(), POLLIN, 0},
                    {peer_ended_ ? -1 : in_.get(), POLLIN, 0},
                    {want_write ? out_.get() : -1, POLLOUT, 0}};
    const bool bounded = timeout_ < absl::Hours(24);
    const int ready = poll(fds, 3, bounded ? static_cast<int>(absl::ToInt64Milliseconds(timeout_)) : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0)
      return Break(absl::InternalError(absl::StrCat("wait for the Nix daemon: ", strerror(errno))));
    if (ready == 0) {
      return Break(absl::DeadlineExceededError(
          absl::StrCat("the Nix daemon moved nothing for ", absl::FormatDuration(timeout_))));
    }
    if (fds[0].revents != 0) continue;
    return fds[1].revents != 0;
  }
}

absl::StatusOr<size_t> DaemonWire::ReadSome() {
  if (read_ == buffer_.size()) {
    buffer_.clear();
    read_ = 0;
  }
  const size_t before = buffer_.size();
  buffer_.resize(before + kBlock);
  const ssize_t n = read(in_.get(), buffer_.data() + before, kBlock);
  const int error_number = errno;
  buffer_.resize(before + std::max<ssize_t>(n, 0));
  if (n > 0) return static_cast<size_t>(n);
  if (n < 0 && (error_number == EAGAIN || error_number == EINTR)) return size_t{0};
  peer_ended_ = true;
  return absl::UnavailableError(n == 0 ? std::string("the Nix daemon closed the connection")
                                       : absl::StrCat("read from the Nix daemon: ", strerror(error_number)));
}

absl::Status DaemonWire::Fill() {
  HYDRANT_RETURN_IF_ERROR(broken_);
  while (true) {
    if (peer_ended_) return Break(absl::UnavailableError("the Nix daemon closed the connection"));
    HYDRANT_ASSIGN_OR_RETURN(const bool readable, Poll(false));
    if (!readable) continue;
    const absl::StatusOr<size_t> n = ReadSome();
    if (!n.ok()) return Break(n.status());
    if (*n > 0) return absl::OkStatus();
  }
}

absl::Status DaemonWire::Await(size_t bytes) {
  if (read_ > kBlock && read_ * 2 > buffer_.size()) {
    buffer_.erase(0, read_);
    read_ = 0;
  }
  while (buffer_.size() - read_ < bytes) HYDRANT_RETURN_IF_ERROR(Fill());
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> DaemonWire::Peek() {
  HYDRANT_RETURN_IF_ERROR(Await(1));
  return std::string_view(buffer_).substr(read_);
}

absl::StatusOr<uint64_t> DaemonWire::ReadNumber() {
  HYDRANT_RETURN_IF_ERROR(Await(8));
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(buffer_[read_ + i]);
  read_ += 8;
  return number;
}

absl::StatusOr<std::string> DaemonWire::ReadString() {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t length, ReadNumber());
  if (length > kMaxString) {
    return Break(
        absl::DataLossError(absl::StrCat("the Nix daemon announced a string of ", length, " bytes")));
  }
  const size_t padded = static_cast<size_t>((length + 7) / 8 * 8);
  HYDRANT_RETURN_IF_ERROR(Await(padded));
  std::string text = buffer_.substr(read_, length);
  const std::string_view padding = std::string_view(buffer_).substr(read_ + length, padded - length);
  if (padding.find_first_not_of('\0') != std::string_view::npos) {
    return Break(absl::DataLossError("the Nix daemon sent a string whose padding is not zero"));
  }
  read_ += padded;
  return text;
}

absl::StatusOr<std::set<std::string>> DaemonWire::ReadStrings() {
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t count, ReadNumber());
  if (count > kMaxStrings) {
    return Break(absl::DataLossError(absl::StrCat("the Nix daemon announced ", count, " strings")));
  }
  std::set<std::string> texts;
  for (uint64_t i = 0; i < count; ++i) {
    HYDRANT_ASSIGN_OR_RETURN(std::string text, ReadString());
    texts.insert(std::move(text));
  }
  return texts;
}

void DaemonWire::PutNumber(uint64_t number) { AppendNumber(pending_, number); }

void DaemonWire::PutString(std::string_view text) {
  PutNumber(text.size());
  pending_.append(text);
  pending_.append((8 - text.size() % 8) % 8, '\0');
}

absl::Status DaemonWire::Flush() {
  const std::string bytes = std::move(pending_);
  pending_.clear();
  return Send(bytes);
}

absl::Status DaemonWire::Slurp() {
  const absl::StatusOr<size_t> n = ReadSome();
  if (!n.ok())
    return absl::OkStatus();  // the write will tell, and what was said before the end is still to be read
  if (buffer_.size() - read_ > kMaxUnread) {
    return Break(absl::DataLossError("the Nix daemon sends without end while it should listen"));
  }
  return absl::OkStatus();
}

// Reads while it writes: a daemon that cannot get rid of its log does not listen.
absl::Status DaemonWire::Send(std::string_view bytes) {
  HYDRANT_RETURN_IF_ERROR(broken_);
  SigpipeBlock no_sigpipe;
  while (!bytes.empty()) {
    HYDRANT_ASSIGN_OR_RETURN(const bool readable, Poll(true));
    if (readable) HYDRANT_RETURN_IF_ERROR(Slurp());
    const ssize_t n = write(out_.get(), bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(n);
    } else if (errno != EINTR && errno != EAGAIN) {
      const int error_number = errno;
      return interrupted_ ? Break(absl::CancelledError("the connection to the Nix daemon was closed"))
                          : Break(absl::UnavailableError(
                                absl::StrCat("write to the Nix daemon: ", strerror(error_number))));
    }
  }
  return absl::OkStatus();
}

absl::Status DaemonWire::SendFrames(Source& source) {
  HYDRANT_RETURN_IF_ERROR(Flush());
  std::vector<char> block(kBlock);
  absl::Status source_status;
  while (true) {
    const absl::StatusOr<size_t> n = source.Read(block);
    if (!n.ok()) source_status = n.status();
    const size_t length = n.ok() ? *n : 0;
    PutNumber(length);
    pending_.append(block.data(), length);
    HYDRANT_RETURN_IF_ERROR(Flush());
    if (length == 0) return source_status;
  }
}

}  // namespace hydrant::nix
