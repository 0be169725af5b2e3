// Bytes from and to a file descriptor that somebody else owns. Knows nothing of formats.
#ifndef HYDRANT_LIB_BASE_FD_STREAM_H_
#define HYDRANT_LIB_BASE_FD_STREAM_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/stream.h"

namespace hydrant {

class FdSource final : public Source {
 public:
  // `name` stands in errors: "read standard input: …".
  FdSource(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  int fd_;
  std::string name_;
};

// On a pipe whose reader went away the writer gets SIGPIPE, unless it holds a SigpipeBlock.
class FdSink final : public Sink {
 public:
  FdSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  absl::Status Write(std::string_view bytes) override;

 private:
  int fd_;
  std::string name_;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_FD_STREAM_H_
