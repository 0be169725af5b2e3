#include "lib/nix/daemon_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/daemon_encoding.h"
#include "lib/nix/daemon_log.h"

namespace hydrant::nix {
namespace {

constexpr uint64_t kClientMagic = 0x6e697863, kDaemonMagic = 0x6478696f;
constexpr absl::Duration kStopGrace = absl::Seconds(10);
constexpr size_t kStderrTail = 2000;

}  // namespace

absl::StatusOr<std::unique_ptr<DaemonConnection>> DaemonConnection::Open(
    const DaemonClient::Options& options) {
  auto connection = std::unique_ptr<DaemonConnection>(new DaemonConnection);
  HYDRANT_RETURN_IF_ERROR(connection->Reach(options));
  connection->wire_->set_timeout(options.reply_timeout);
  HYDRANT_RETURN_IF_ERROR(connection->Handshake(options.newest_minor, options.reply_timeout));
  return connection;
}

absl::Status DaemonConnection::Reach(const DaemonClient::Options& options) {
  return options.socket.empty() ? StartDaemon(options) : ConnectSocket(options.socket);
}

absl::Status DaemonConnection::ConnectSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return absl::InvalidArgumentError(
        absl::StrCat("Nix daemon's socket ", path, ": the path is longer than 107 bytes"));
  }
  path.copy(address.sun_path, path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return ErrnoStatus(errno, "make a socket");
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return absl::UnavailableError(absl::StrCat("connect to the Nix daemon at ", path, ": ", strerror(errno)));
  }
  UniqueFd second(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!second.valid()) return ErrnoStatus(errno, "duplicate a socket");
  wire_ = std::make_unique<DaemonWire>(std::move(fd), std::move(second));
  return absl::OkStatus();
}

absl::Status DaemonConnection::StartDaemon(const DaemonClient::Options& options) {
  daemon_stderr_.Reset(memfd_create("nix-daemon-stderr", MFD_CLOEXEC));
  if (!daemon_stderr_.valid()) return ErrnoStatus(errno, "make a file in memory");
  if (options.command.empty())
    return absl::InvalidArgumentError("Nix daemon: neither a socket nor a command is given");
  Subprocess::Options process{.argv = options.command, .env = options.env};
  if (!options.store_root.empty()) process.argv.insert(process.argv.end(), {"--store", options.store_root});
  if (!options.nix_config.empty()) process.env["NIX_CONFIG"] = options.nix_config;
  process.pipe_stdin = process.pipe_stdout = true;
  process.stderr_fd = daemon_stderr_.get();
  // It sees the end of its standard input when we die, and takes its builder with it; SIGKILL would leave the
  // builder.
  process.die_with_parent = false;
  auto daemon = Subprocess::Start(std::move(process));
  if (!daemon.ok()) return absl::UnavailableError(daemon.status().message());
  daemon_pid_ = (*daemon)->pid();
  wire_ = std::make_unique<DaemonWire>(std::move((*daemon)->stdout_fd()), std::move((*daemon)->stdin_fd()));
  wire_->set_process(UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, daemon_pid_, 0))));
  wire_->set_epitaph([this] { return LastWords(); });
  MutexLock lock(mu_);
  daemon_ = *std::move(daemon);
  return absl::OkStatus();
}

absl::Status DaemonConnection::Handshake(uint64_t newest_minor, absl::Duration reply_timeout) {
  DaemonWire& wire = *wire_;
  wire.set_deadline(reply_timeout);
  wire.PutNumber(kClientMagic);
  wire.PutNumber(kProtocolMajor << 8 | newest_minor);
  HYDRANT_RETURN_IF_ERROR(wire.Flush());
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t magic, wire.ReadNumber());
  if (magic != kDaemonMagic) {
    return wire.Break(absl::DataLossError("the peer is no Nix daemon: its greeting is not the protocol's"));
  }
  HYDRANT_ASSIGN_OR_RETURN(const uint64_t version, wire.ReadNumber());
  const uint64_t major = version >> 8, minor = version & 0xff;
  if (major != kProtocolMajor || minor < kOldestProtocolMinor) {
    return wire.Break(absl::FailedPreconditionError(absl::StrCat("the Nix daemon speaks protocol ", major,
                                                                 ".", minor, ", expected ", kProtocolMajor,
                                                                 ".", kOldestProtocolMinor, " or newer")));
  }
  protocol_.minor = std::min(minor, newest_minor);
  if (protocol_.minor >= 38) {
    wire.PutStrings(OurFeatures());
    HYDRANT_RETURN_IF_ERROR(wire.Flush());
    HYDRANT_ASSIGN_OR_RETURN(const std::set<std::string> theirs, wire.ReadStrings());
    std::ranges::set_intersection(OurFeatures(), theirs,
                                  std::inserter(protocol_.features, protocol_.features.end()));
  }
  wire.PutNumber(0);  // once: CPU affinity
  wire.PutNumber(0);  // once: reserve space
  HYDRANT_RETURN_IF_ERROR(wire.Flush());
  if (protocol_.minor >= 33) {
    HYDRANT_ASSIGN_OR_RETURN(daemon_version_, wire.ReadString());
  }
  if (protocol_.minor >= 35) {
    HYDRANT_ASSIGN_OR_RETURN(trusted_, ReadTrust(wire));
  }
  HYDRANT_RETURN_IF_ERROR(ReadDaemonLog(wire, protocol_.minor, nullptr));
  wire.set_deadline(absl::InfiniteDuration());
  return absl::OkStatus();
}

std::string DaemonConnection::LastWords() const {
  if (!daemon_stderr_.valid()) return "";
  const off_t size = lseek(daemon_stderr_.get(), 0, SEEK_END);
  if (size <= 0) return "";
  std::string tail(std::min<size_t>(size, kStderrTail), '\0');
  const ssize_t n =
      pread(daemon_stderr_.get(), tail.data(), tail.size(), size - static_cast<off_t>(tail.size()));
  tail.resize(std::max<ssize_t>(n, 0));
  std::string said = WithoutAnsiCodes(tail);
  while (said.ends_with('\n')) said.pop_back();
  return said;
}

void DaemonConnection::Close() {
  if (wire_ != nullptr) wire_->Interrupt();
  MutexLock lock(mu_);
  if (daemon_ != nullptr) daemon_->Stop(kStopGrace);
}

}  // namespace hydrant::nix
