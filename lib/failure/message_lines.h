// A text of Nix or of a builder as clean lines, each with its part: what an error says, what only surrounds
// it.
#ifndef HYDRANT_LIB_FAILURE_MESSAGE_LINES_H_
#define HYDRANT_LIB_FAILURE_MESSAGE_LINES_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/failure/wordings.h"

namespace hydrant {

enum class LinePart {
  kText,         // a message, or a line of a builder's log
  kErrorHead,    // begins with "error:", which is taken off
  kLog,          // "> …": a builder's line that Nix quotes; the mark is taken off
  kSurrounding,  // a warning, a trace line, an excerpt of source
};

struct MessageLine {
  LinePart part = LinePart::kText;
  std::string text;   // trimmed, without "error:", "Reason:" or a bullet
  std::string plain;  // the same with ASCII quotes, for matching
};

// Strips escape sequences first. Blank lines are left out.
std::vector<MessageLine> MessageLines(std::string_view text);

struct WordingMatch {
  const Wording* wording;
  const MessageLine* line;
};

// The first row that matches any of the lines of these parts, and the first such line.
std::optional<WordingMatch> FirstMatch(std::span<const Wording> wordings, std::span<const MessageLine> lines,
                                       std::initializer_list<LinePart> parts);

}  // namespace hydrant

#endif  // HYDRANT_LIB_FAILURE_MESSAGE_LINES_H_
