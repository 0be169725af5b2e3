// A text of Nix or of a builder as clean lines, one after the other, each with its part: what an error says,
// what only surrounds it. Memory is that of one line, whatever the text.
#ifndef HYDRANT_LIB_FAILURE_MESSAGE_LINES_H_
#define HYDRANT_LIB_FAILURE_MESSAGE_LINES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace hydrant {

enum class LinePart {
  kText,         // a message, or a line of a builder's log
  kErrorHead,    // begins with "error:", which is taken off
  kLog,          // "> …": a builder's line that Nix quotes; the mark is taken off
  kSurrounding,  // a warning, a trace line, an excerpt of source
  kGoodTest,     // a test that begins or passed: whatever its name says, it explains no failure
};

struct MessageLine {
  LinePart part = LinePart::kText;
  std::string text;       // trimmed, without "error:", "Reason:" or a bullet
  std::string plain;      // the same with ASCII quotes, for matching
  size_t number = 0;      // of the line in the text, from 1
  bool of_error = false;  // an "error:" line, or an indented one below it: what Nix itself says
};

class MessageLineReader {
 public:
  // Of a longer line only so many bytes count.
  static constexpr size_t kLongestLine = 64 << 10;

  // `text` must outlive the reader. Escape sequences are stripped.
  explicit MessageLineReader(std::string_view text) : rest_(text) {}

  // The next line that says something; null at the end. It is the reader's, and good until the next call.
  const MessageLine* Next();

 private:
  bool Fill(std::string_view raw);

  std::string_view rest_;
  size_t number_ = 1;  // of the line at rest_
  std::string clean_;
  bool in_error_ = false;
  MessageLine line_;
};

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_MESSAGE_LINES_H_
