#include "lib/failure/strip_ansi.h"

#include <cstddef>

#include "lib/failure/classify.h"

namespace hydrant {
namespace {

constexpr char kEsc = '\x1b';

bool Between(char c, unsigned char low, unsigned char high) {
  const auto byte = static_cast<unsigned char>(c);
  return low <= byte && byte <= high;
}

// ESC [ parameters intermediates final (ECMA-48, 5.4).
size_t EndOfControlSequence(std::string_view text, size_t at) {
  while (at < text.size() && Between(text[at], 0x30, 0x3f)) ++at;
  while (at < text.size() && Between(text[at], 0x20, 0x2f)) ++at;
  if (at < text.size() && Between(text[at], 0x40, 0x7e)) ++at;
  return at;
}

// ESC ] … up to BEL or ESC \. One that is cut off ends with its line, so that it hides no more than that.
size_t EndOfString(std::string_view text, size_t at) {
  for (; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '\a') return at + 1;
    if (text[at] == kEsc) return at + 1 < text.size() && text[at + 1] == '\\' ? at + 2 : at;
  }
  return at;
}

// The first byte after the escape sequence that begins at `at`.
size_t EndOfEscape(std::string_view text, size_t at) {
  if (++at == text.size()) return at;
  switch (text[at]) {
    case '[':
      return EndOfControlSequence(text, at + 1);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return EndOfString(text, at + 1);
    default:
      break;
  }
  while (at < text.size() && Between(text[at], 0x20, 0x2f)) ++at;
  if (at < text.size() && Between(text[at], 0x30, 0x7e)) ++at;
  return at;
}

}  // namespace

void StripAnsi(std::string_view text, std::string* clean) {
  clean->clear();
  for (size_t at = 0; at < text.size();) {
    if (text[at] == kEsc) {
      at = EndOfEscape(text, at);
      continue;
    }
    // Of the clean text: between CR and LF may stand what is taken out.
    while (text[at] == '\n' && !clean->empty() && clean->back() == '\r') clean->pop_back();
    if (text[at] != '\0') clean->push_back(text[at]);
    ++at;
  }
}

std::string StripAnsi(std::string_view text) {
  std::string clean;
  StripAnsi(text, &clean);
  return clean;
}

}  // namespace hydrant
