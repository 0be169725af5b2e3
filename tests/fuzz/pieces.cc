#include "tests/fuzz/pieces.h"

#include <algorithm>

namespace hydrant::fuzz {

uint64_t Fingerprint(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string_view Pieces::Next(size_t at_most) {
  state_ ^= state_ << 13;  // xorshift
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  const size_t largest = state_ % 8 == 0 ? 4096 : state_ % 8 < 4 ? 64 : 7;
  const size_t size = std::min({1 + state_ / 8 % largest, at_most, rest_.size()});
  const std::string_view piece = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return piece;
}

absl::StatusOr<size_t> Pieces::Read(std::span<char> buffer) {
  return Next(buffer.size()).copy(buffer.data(), buffer.size());
}

absl::Status BoundedSink::Write(std::string_view bytes) {
  if (bytes.size() > limit_ - value_.size()) {
    return absl::ResourceExhaustedError("more bytes than this sink takes");
  }
  value_.append(bytes);
  return absl::OkStatus();
}

}  // namespace hydrant::fuzz
