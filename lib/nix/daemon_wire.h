// A Nix daemon's two descriptors as a stream of its protocol's numbers and strings. Knows no operation.
//
// As WireReader, and what had arrived before an error can still be read. Every wait is bounded: an element (a
// number, the next 64 KiB of a string or that we send) may keep us waiting no longer than the timeout,
// however often a byte came. One thread, but Interrupt().
#ifndef HYDRANT_LIB_NIX_DAEMON_WIRE_H_
#define HYDRANT_LIB_NIX_DAEMON_WIRE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/stream.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/daemon_format.h"

namespace hydrant::nix {

class DaemonWire final : public WireReader {
 public:
  // For a socket `out` is a duplicate of `in`.
  DaemonWire(UniqueFd in, UniqueFd out);

  // How long we wait for an element.
  void set_timeout(absl::Duration timeout) { timeout_ = timeout; }
  // Until when everything must have come, from now on and in all; InfiniteDuration: no such limit.
  void set_deadline(absl::Duration from_now);
  // The peer's process: its end is the connection's, even while another process holds the descriptors.
  void set_process(UniqueFd pid_fd) { process_ = std::move(pid_fd); }
  // What to add to the message when the peer goes away: its last words.
  void set_epitaph(std::function<std::string()> epitaph) { epitaph_ = std::move(epitaph); }

  // What runs, or is called later, fails with Cancelled. Any thread.
  void Interrupt();

  // Gathers what Flush sends. Unavailable when the peer is gone, DeadlineExceeded.
  WireWriter& out() { return pending_; }
  void PutNumber(uint64_t number) { pending_.PutNumber(number); }
  void PutString(std::string_view text) { pending_.PutString(text); }
  template <typename Container>
  void PutStrings(const Container& texts) {
    pending_.PutStrings(texts);
  }
  absl::Status Flush();
  // Sends all of `source` in frames and the empty frame that ends them. When the source fails its error is
  // returned, and kEnd: the frames are ended too, so that the peer, which notices that something lacks, stays
  // in step; kBreak: the wire is broken, so that it never takes a part for the whole.
  enum class OnFailure { kEnd, kBreak };
  absl::Status SendFrames(Source& source, OnFailure on_failure = OnFailure::kEnd);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  absl::Status Fill() override;  // reads what is there, or waits for it
  void BeginElement() override { waited_ = absl::ZeroDuration(); }
  absl::Status Send(std::string_view bytes);
  // Waits until `out_` (want_write) or `in_` is ready; true: `in_` is.
  absl::StatusOr<bool> Poll(bool want_write);
  absl::StatusOr<int> MillisecondsLeft();  // -1: no limit
  absl::StatusOr<size_t> ReadSome();       // 0: would block
  absl::Status Slurp();                    // what came while we were sending
  absl::Status PeerGone(std::string_view how);

  UniqueFd in_, out_, wake_, process_;
  absl::Duration timeout_ = absl::InfiniteDuration();
  absl::Duration waited_;  // for this element
  SteadyTime call_end_ = SteadyTime::max();
  std::function<std::string()> epitaph_;
  std::atomic<bool> interrupted_ = false;
  bool peer_ended_ = false;
  WireWriter pending_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_WIRE_H_
