#include "worker/push/byte_pipe.h"

#include <algorithm>
#include <utility>

namespace hydrant::worker {

absl::Status BytePipe::Write(std::string_view bytes) {
  MutexLock lock(mu_);
  while (!bytes.empty()) {
    while (!unread_ && bytes_.size() - taken_ >= capacity_) changed_.Wait(mu_);
    if (unread_) return absl::CancelledError("nobody reads any more");
    if (taken_ > 0) bytes_.erase(0, std::exchange(taken_, 0));
    const size_t n = std::min(bytes.size(), capacity_ - bytes_.size());
    bytes_.append(bytes.substr(0, n));
    bytes.remove_prefix(n);
    changed_.NotifyAll();
  }
  return absl::OkStatus();
}

void BytePipe::CloseWriting(absl::Status status) {
  MutexLock lock(mu_);
  written_ = true;
  status_ = std::move(status);
  changed_.NotifyAll();
}

absl::StatusOr<size_t> BytePipe::Read(std::span<char> buffer) {
  MutexLock lock(mu_);
  while (!written_ && taken_ == bytes_.size()) changed_.Wait(mu_);
  if (written_ && !status_.ok()) return status_;
  const size_t n = std::min(buffer.size(), bytes_.size() - taken_);
  bytes_.copy(buffer.data(), n, taken_);
  taken_ += n;
  changed_.NotifyAll();
  return n;
}

void BytePipe::CloseReading() {
  MutexLock lock(mu_);
  unread_ = true;
  changed_.NotifyAll();
}

}  // namespace hydrant::worker
