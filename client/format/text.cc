#include "client/format/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_format.h"

namespace hydrant::client {
namespace {

struct Rune {
  uint32_t code = 0;
  size_t bytes = 1;
  bool valid = false;
};

// The first character of `text`, which is not empty.
Rune Decode(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                                                     : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  uint32_t code = lead & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (at(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes, true};
}

struct Range {
  uint32_t first, last;
};

template <size_t n>
bool In(const Range (&ranges)[n], uint32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

// Zero width: combining marks, joiners, variation selectors (Unicode 15, the blocks that occur).
constexpr Range kZeroWidth[] = {{0x300, 0x36f},   {0x483, 0x489},    {0x591, 0x5bd},   {0x610, 0x61a},
                                {0x64b, 0x65f},   {0x200b, 0x200f},  {0x20d0, 0x20f0}, {0x2060, 0x2064},
                                {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},  {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
                                {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
// East Asian Width W and F, and emoji.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},  {0x2705, 0x2705},
                           {0x274c, 0x274c},   {0x2e80, 0x303e},   {0x3041, 0x33ff},  {0x3400, 0x4dbf},
                           {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},  {0xf900, 0xfaff},
                           {0xfe30, 0xfe4f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                           {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
// Characters that turn the direction of what follows, or break lines.
constexpr Range kUnsafe[] = {
    {0x80, 0x9f}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0x61c, 0x61c}};

int Width(uint32_t code) { return In(kZeroWidth, code) ? 0 : In(kWide, code) ? 2 : 1; }

std::string Escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  return absl::StrFormat("\\x%02x", static_cast<unsigned char>(c));
}

std::string CleanBut(std::string_view text, bool keep_lines) {
  std::string clean;
  while (!text.empty()) {
    const Rune rune = Decode(text);
    if (keep_lines && rune.code == '\n' && rune.valid) {
      clean += '\n';
    } else if (!rune.valid || rune.code < 0x20 || rune.code == 0x7f) {
      clean += Escaped(text[0]);
    } else if (In(kUnsafe, rune.code)) {
      clean += absl::StrFormat("\\u{%x}", rune.code);
    } else {
      clean.append(text.substr(0, rune.bytes));
    }
    text.remove_prefix(rune.bytes);
  }
  return clean;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string Clean(std::string_view text) { return CleanBut(text, false); }
std::string CleanLines(std::string_view text) { return CleanBut(text, true); }

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Rune rune = Decode(text);
    width += rune.valid ? Width(rune.code) : 1;
    text.remove_prefix(rune.bytes);
  }
  return width;
}

std::string PadRight(std::string_view text, int width) {
  return std::string(text) + std::string(std::max(0, width - DisplayWidth(text)), ' ');
}

std::string PadLeft(std::string_view text, int width) {
  return std::string(std::max(0, width - DisplayWidth(text)), ' ') + std::string(text);
}

std::string Shorten(std::string_view text, int width, bool utf8) {
  if (width <= 0) return "";
  if (DisplayWidth(text) <= width) return std::string(text);
  size_t kept = 0;
  for (int used = 0; kept < text.size();) {
    const Rune rune = Decode(text.substr(kept));
    used += rune.valid ? Width(rune.code) : 1;
    if (used > width - 1) break;
    kept += rune.bytes;
  }
  return std::string(text.substr(0, kept)) + (utf8 ? "…" : "~");
}

bool NaturalLess(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (!IsDigit(a[0]) || !IsDigit(b[0])) {
      if (a[0] != b[0]) return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    const auto number = [](std::string_view& text) {
      size_t end = 0;
      while (end < text.size() && IsDigit(text[end])) ++end;
      std::string_view digits = text.substr(0, end);
      text.remove_prefix(end);
      while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
      return digits;
    };
    const std::string_view x = number(a), y = number(b);
    if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
  }
  return a.size() < b.size();
}

std::string LogFilter::Filter(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) Take(c, &out);
  return out;
}

void LogFilter::TakeText(char c, std::string* out) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80 && byte < 0xc0) {
    // Of a character; else a bare C1 control, which some terminals obey. So is U+0080 to U+009F, after a lead
    // of 0xc2.
    if (continuations_ == 0) return;
    --continuations_;
    const bool control = c2_ && byte < 0xa0;
    if (!control) out->append(c2_ ? "\xc2" : "").push_back(c);
    c2_ = false;
    return;
  }
  c2_ = byte == 0xc2;
  continuations_ = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
  if (c2_) return;
  if (c == '\x1b') {
    state_ = State::kEscape;
  } else if (c == '\n' || c == '\t' || c == '\r' || (byte >= 0x20 && byte != 0x7f)) {
    out->push_back(c);
  }
}

void LogFilter::Take(char c, std::string* out) {
  const auto byte = static_cast<unsigned char>(c);
  switch (state_) {
    case State::kText:
      TakeText(c, out);
      return;
    case State::kEscape:
      sequence_.clear();
      if (c == '[') {
        state_ = State::kCsi;
      } else if (c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X') {
        state_ = State::kString;
      } else if (byte < 0x20 || byte > 0x2f) {  // else intermediate bytes: the sequence goes on
        state_ = State::kText;
      }
      return;
    case State::kCsi:
      if (byte >= 0x40 && byte <= 0x7e) {
        const bool colour = c == 'm' && sequence_.find_first_not_of("0123456789;:") == std::string::npos;
        if (colour) out->append("\x1b[" + sequence_ + "m");
        state_ = State::kText;
      } else if (byte < 0x20 || sequence_.size() > 64) {
        state_ = State::kText;
        if (c == '\n') out->push_back(c);
      } else {
        sequence_ += c;
      }
      return;
    case State::kString:
      if (c == '\x07' || c == '\n') state_ = State::kText;
      if (c == '\n') out->push_back(c);
      if (c == '\x1b') state_ = State::kStringEscape;
      return;
    case State::kStringEscape:
      state_ = State::kText;
      return;
  }
}

}  // namespace hydrant::client
