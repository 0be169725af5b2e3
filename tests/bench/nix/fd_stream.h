// Descriptors as Sink and Source. Owns nothing.
#ifndef HYDRANT_TESTS_BENCH_NIX_FD_STREAM_H_
#define HYDRANT_TESTS_BENCH_NIX_FD_STREAM_H_

#include <errno.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/stream.h"

namespace hydrant::nix::bench {

class FdSink final : public Sink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
  absl::Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, "write the output");
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return absl::OkStatus();
  }

 private:
  const int fd_;
};

class FdSource final : public Source {
 public:
  explicit FdSource(int fd) : fd_(fd) {}
  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    while (true) {
      const ssize_t n = read(fd_, buffer.data(), buffer.size());
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR) return ErrnoStatus(errno, "read the input");
    }
  }

 private:
  const int fd_;
};

}  // namespace hydrant::nix::bench

#endif  // HYDRANT_TESTS_BENCH_NIX_FD_STREAM_H_
