// Where bytes go to and come from, block by block: what NARs, hashes, codecs and sockets share.
#ifndef HYDRANT_LIB_BASE_STREAM_H_
#define HYDRANT_LIB_BASE_STREAM_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hydrant {

class Sink {
 public:
  virtual ~Sink() = default;
  // Takes all of `bytes`, or fails; after a failure the sink is of no further use.
  virtual absl::Status Write(std::string_view bytes) = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  // Fills at most buffer.size() bytes (at least one unless at the end); 0 means the end.
  virtual absl::StatusOr<size_t> Read(std::span<char> buffer) = 0;
};

class StringSink final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override {
    value.append(bytes);
    return absl::OkStatus();
  }
  std::string value;
};

class StringSource final : public Source {
 public:
  explicit StringSource(std::string_view bytes) : rest_(bytes) {}
  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t n = rest_.copy(buffer.data(), buffer.size());
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

// Moves everything from `source` to `sink` in blocks of 64 KiB; the number of bytes moved.
absl::StatusOr<size_t> Copy(Source& source, Sink& sink);

}  // namespace hydrant

#endif  // HYDRANT_LIB_BASE_STREAM_H_
