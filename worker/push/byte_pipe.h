// Bytes from a thread that writes to one that reads, with at most `capacity` bytes between them.
#ifndef HYDRANT_WORKER_PUSH_BYTE_PIPE_H_
#define HYDRANT_WORKER_PUSH_BYTE_PIPE_H_

#include <string>

#include "lib/base/mutex.h"
#include "lib/base/stream.h"

namespace hydrant::worker {

class BytePipe final : public Sink, public Source {
 public:
  explicit BytePipe(size_t capacity) : capacity_(capacity) {}

  // Writer: blocks while it is full. Cancelled once the reader is gone.
  absl::Status Write(std::string_view bytes) override;
  // Writer, once: no more comes; a status that is not OK is what Read then returns.
  void CloseWriting(absl::Status status);
  // Reader: blocks while it is empty.
  absl::StatusOr<size_t> Read(std::span<char> buffer) override;
  // Reader: nothing more is wanted.
  void CloseReading();

 private:
  const size_t capacity_;
  Mutex mu_;
  CondVar changed_;
  std::string bytes_ ABSL_GUARDED_BY(mu_);
  size_t taken_ ABSL_GUARDED_BY(mu_) = 0;  // of bytes_
  bool written_ ABSL_GUARDED_BY(mu_) = false, unread_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_BYTE_PIPE_H_
