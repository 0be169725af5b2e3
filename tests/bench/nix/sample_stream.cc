#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "lib/base/fd_stream.h"
#include "lib/base/status_macros.h"
#include "tests/bench/nix/verbs.h"

namespace hydrant::nix::bench {
namespace {

// xorshift64*: the same bytes on every machine.
class Random {
 public:
  uint64_t Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d;
  }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15;
};

// Pages in turn of noise and of a repeated page of hexadecimal digits: compresses by about one half.
absl::Status WriteSample(Sink& sink, uint64_t bytes) {
  constexpr size_t kPage = 4096;
  Random random;
  std::string block(256 * kPage, '\0');
  for (size_t i = kPage; i < 2 * kPage; ++i) block[i] = "0123456789abcdef"[random.Next() >> 60];
  for (size_t page = 3; page < 256; page += 2) block.replace(page * kPage, kPage, block, kPage, kPage);
  while (bytes > 0) {
    for (size_t page = 0; page < 256; page += 2) {
      for (size_t i = 0; i < kPage; i += 8) {
        const uint64_t word = random.Next();
        std::memcpy(block.data() + page * kPage + i, &word, 8);
      }
    }
    const size_t n = static_cast<size_t>(std::min<uint64_t>(bytes, block.size()));
    HYDRANT_RETURN_IF_ERROR(sink.Write({block.data(), n}));
    bytes -= n;
  }
  return absl::OkStatus();
}

std::string Number(uint64_t n) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(n >> (8 * i));
  return bytes;
}

std::string Tokens(std::initializer_list<std::string_view> texts) {
  std::string bytes;
  for (const std::string_view text : texts) {
    bytes += Number(text.size());
    bytes += text;
    bytes.resize((bytes.size() + 7) / 8 * 8);
  }
  return bytes;
}

}  // namespace

absl::Status SampleStream(const Arguments& arguments) {
  FdSink out(STDOUT_FILENO, "the output");
  return WriteSample(out, std::strtoull(arguments[0].c_str(), nullptr, 10));
}

absl::Status SampleNar(const Arguments& arguments) {
  const uint64_t size = std::strtoull(arguments[0].c_str(), nullptr, 10);
  FdSink out(STDOUT_FILENO, "the output");
  HYDRANT_RETURN_IF_ERROR(
      out.Write(Tokens({"nix-archive-1", "(", "type", "regular", "contents"}) + Number(size)));
  HYDRANT_RETURN_IF_ERROR(WriteSample(out, size));
  return out.Write(std::string((8 - size % 8) % 8, '\0') + Tokens({")"}));
}

}  // namespace hydrant::nix::bench
