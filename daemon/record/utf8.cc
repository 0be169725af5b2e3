#include "daemon/record/utf8.h"

#include <cstddef>

namespace hydrant {
namespace {

bool Between(unsigned char c, unsigned char low, unsigned char high) { return c >= low && c <= high; }

// The length of the character at the front, 0 when there is none. Unicode 15, table 3-7.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto rest = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      if (!Between(byte(i), 0x80, 0xbf)) return false;
    }
    return true;
  };
  const unsigned char first = byte(0);
  if (Between(first, 0x01, 0x7f)) return 1;
  if (Between(first, 0xc2, 0xdf)) return rest(1, 2) ? 2 : 0;
  if (Between(first, 0xe0, 0xef)) {
    const unsigned char low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return Between(byte(1), low, high) && rest(2, 3) ? 3 : 0;
  }
  if (Between(first, 0xf0, 0xf4)) {
    const unsigned char low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
    return Between(byte(1), low, high) && rest(2, 4) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool IsCleanUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string CleanUtf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length > 0) {
      clean.append(text.substr(0, length));
    } else if (text[0] != '\0') {
      clean.append("\xef\xbf\xbd");
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return clean;
}

}  // namespace hydrant
