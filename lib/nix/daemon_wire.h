// The numbers and strings of Nix's worker protocol on a pair of descriptors. Every number is 64 bits,
// little-endian; a string is its length, its bytes and zeros up to a multiple of 8. Knows no operation.
//
// The first transport or format error breaks the wire: it and every later call return that error, but that
// what had arrived before can still be read. One thread, but Interrupt().
#ifndef HYDRANT_LIB_NIX_DAEMON_WIRE_H_
#define HYDRANT_LIB_NIX_DAEMON_WIRE_H_

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/base/stream.h"
#include "lib/base/unique_fd.h"

namespace hydrant::nix {

class DaemonWire {
 public:
  // For a socket `out` is a duplicate of `in`.
  DaemonWire(UniqueFd in, UniqueFd out);

  // How long the peer may move nothing while we wait for it.
  void set_timeout(absl::Duration timeout) { timeout_ = timeout; }

  // What runs, or is called later, fails with Cancelled. Any thread.
  void Interrupt();

  // Unavailable at the end of the stream, DeadlineExceeded after the timeout, DataLoss for a length that is
  // beyond reason.
  absl::StatusOr<uint64_t> ReadNumber();
  absl::StatusOr<std::string> ReadString();
  absl::StatusOr<std::set<std::string>> ReadStrings();
  // At least one byte that was not read yet; valid until the next call. Skip() takes the first `n` of them.
  absl::StatusOr<std::string_view> Peek();
  void Skip(size_t n) { read_ += n; }
  bool has_unread() const { return read_ < buffer_.size(); }

  // Put… gathers, Flush sends.
  void PutNumber(uint64_t number);
  void PutString(std::string_view text);
  template <typename Container>
  void PutStrings(const Container& texts) {
    PutNumber(texts.size());
    for (const auto& text : texts) PutString(text);
  }
  absl::Status Flush();
  // Sends all of `source` in frames and the empty frame that ends them, so that the peer stays in step even
  // when the source fails, whose error is returned.
  absl::Status SendFrames(Source& source);

  // Makes the wire broken by an error that was found above it, which is returned.
  absl::Status Break(absl::Status status);
  const absl::Status& broken() const { return broken_; }

 private:
  absl::Status Await(size_t bytes);  // until so many are buffered
  absl::Status Fill();               // one read, waits for it
  absl::Status Send(std::string_view bytes);
  // Waits until `out_` (want_write) or `in_` is ready; true: `in_` is.
  absl::StatusOr<bool> Poll(bool want_write);
  absl::StatusOr<size_t> ReadSome();  // 0: would block
  absl::Status Slurp();               // what came while we were sending

  UniqueFd in_, out_, wake_;
  absl::Duration timeout_ = absl::InfiniteDuration();
  std::atomic<bool> interrupted_ = false;
  absl::Status broken_;
  bool peer_ended_ = false;
  std::string buffer_;  // read_ bytes of it are used up
  size_t read_ = 0;
  std::string pending_;
};

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_WIRE_H_
