// Cuts bytes into pieces of sizes that depend on nothing but the bytes, so that a verdict can be compared
// with the one on the whole and a crash comes again.
#ifndef HYDRANT_TESTS_FUZZ_PIECES_H_
#define HYDRANT_TESTS_FUZZ_PIECES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/stream.h"

namespace hydrant::fuzz {

// The same number for the same bytes, everywhere.
uint64_t Fingerprint(std::string_view bytes);

class Pieces final : public Source {
 public:
  explicit Pieces(std::string_view bytes) : rest_(bytes), state_(hydrant::fuzz::Fingerprint(bytes) | 1) {}

  // Mostly small, now and then large; empty at the end alone.
  std::string_view Next(size_t at_most = SIZE_MAX);
  absl::StatusOr<size_t> Read(std::span<char> buffer) override;

 private:
  std::string_view rest_;
  uint64_t state_;
};

// Takes at most `limit` bytes, ResourceExhausted after.
class BoundedSink final : public Sink {
 public:
  explicit BoundedSink(size_t limit) : limit_(limit) {}
  absl::Status Write(std::string_view bytes) override;
  const std::string& value() const { return value_; }

 private:
  const size_t limit_;
  std::string value_;
};

}  // namespace hydrant::fuzz

#endif  // HYDRANT_TESTS_FUZZ_PIECES_H_
