// The words of a Nix archive, written the plain way: what the tests hold the library's own writer against.
#ifndef HYDRANT_TESTS_FUZZ_NAR_TOKENS_H_
#define HYDRANT_TESTS_FUZZ_NAR_TOKENS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hydrant::fuzz {

inline void AppendNarTokens(std::string& archive, std::initializer_list<std::string_view> tokens) {
  for (const std::string_view token : tokens) {
    for (int i = 0; i < 8; ++i) archive.push_back(static_cast<char>(uint64_t{token.size()} >> (8 * i)));
    archive.append(token).append((8 - token.size() % 8) % 8, '\0');
  }
}

}  // namespace hydrant::fuzz

#endif  // HYDRANT_TESTS_FUZZ_NAR_TOKENS_H_
