// For tests: the protocol's bytes written out by hand, apart from the code under test.
#ifndef HYDRANT_LIB_NIX_DAEMON_BYTES_FIXTURE_H_
#define HYDRANT_LIB_NIX_DAEMON_BYTES_FIXTURE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace hydrant::nix {

inline std::string Number(uint64_t n) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(n >> (8 * i));
  return out;
}

inline std::string String(std::string_view text) {
  std::string out = Number(text.size()).append(text);
  out.append((8 - text.size() % 8) % 8, '\0');
  return out;
}

}  // namespace hydrant::nix

#endif  // HYDRANT_LIB_NIX_DAEMON_BYTES_FIXTURE_H_
