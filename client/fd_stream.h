// Bytes from and to a file descriptor that somebody else owns. Knows nothing of formats.
#ifndef HYDRANT_CLIENT_FD_STREAM_H_
#define HYDRANT_CLIENT_FD_STREAM_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/sigpipe_block.h"
#include "lib/base/stream.h"

namespace hydrant::client {

class FdSource final : public Source {
 public:
  // `name` stands in errors: "read standard input: …".
  FdSource(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  int fd_;
  std::string name_;
};

// A reader that went away is an error of Write, not a signal. One thread, the one that made it.
class FdSink final : public Sink {
 public:
  FdSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  absl::Status Write(std::string_view bytes) override;

 private:
  int fd_;
  std::string name_;
  SigpipeBlock no_sigpipe_;
};

// Everything that `source` has. OutOfRange when that is more than `limit` bytes.
absl::StatusOr<std::string> ReadAll(Source& source, size_t limit);

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FD_STREAM_H_
