// Text from elsewhere made safe and measured for a terminal. Pure.
#ifndef HYDRANT_CLIENT_FORMAT_TEXT_H_
#define HYDRANT_CLIENT_FORMAT_TEXT_H_

#include <string>
#include <string_view>

namespace hydrant::client {

// Control characters (C0, C1, DEL), direction overrides and bytes that are no UTF-8 become \n, \t, \xNN or
// \u{N}: nothing that a terminal obeys is left.
std::string Clean(std::string_view text);
// The same, but lines stay lines.
std::string CleanLines(std::string_view text);

// Columns that a terminal gives to clean UTF-8: combining marks none, East Asian wide characters and emoji
// two.
int DisplayWidth(std::string_view text);
// Filled with blanks up to `width` columns.
std::string PadRight(std::string_view text, int width);
std::string PadLeft(std::string_view text, int width);
// At most `width` columns, the last one "…" (or "~") where something was cut.
std::string Shorten(std::string_view text, int width, bool utf8);

// "9.10" after "9.9": runs of digits compare as numbers.
bool NaturalLess(std::string_view a, std::string_view b);

// Takes a log apart for a terminal, across chunks: colours (SGR) stay, every other escape sequence and
// control character but newline, tab and carriage return goes.
class LogFilter {
 public:
  std::string Filter(std::string_view bytes);

 private:
  enum class State { kText, kEscape, kCsi, kString, kStringEscape };
  void Take(char c, std::string* out);
  void TakeText(char c, std::string* out);
  State state_ = State::kText;
  std::string sequence_;
  int continuations_ = 0;  // bytes that the character begun still needs
  bool c2_ = false;        // its lead byte was 0xc2, and is held back
};

}  // namespace hydrant::client

#endif  // HYDRANT_CLIENT_FORMAT_TEXT_H_
