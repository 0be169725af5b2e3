#include "client/format/writer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "client/format/text.h"

namespace hydrant::client {
namespace {

const char* Code(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kBusy:
      return "\x1b[36m";
    case Style::kWarn:
      return "\x1b[33m";
  }
  return "";
}

}  // namespace

Writer& Writer::Text(std::string_view text, Style style) {
  const bool coloured = screen_.colour && style != Style::kPlain && !text.empty();
  if (coloured) out_ += Code(style);
  out_ += Clean(text);
  if (coloured) out_ += "\x1b[0m";
  return *this;
}

Writer& Writer::Paragraph(std::string_view text, int indent, Style style) {
  const int room = std::max(20, screen_.width - indent);
  for (const auto& part : absl::StrSplit(std::string(text), '\n')) {
    std::string line;
    for (const auto& piece : absl::StrSplit(part, ' ', absl::SkipEmpty())) {
      const std::string word = Clean(std::string(piece));
      if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > room) {
        Spaces(indent).Text(line, style).Line();
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    if (!line.empty()) Spaces(indent).Text(line, style).Line();
  }
  return *this;
}

Writer& Writer::Spaces(int count) {
  out_.append(std::max(0, count), ' ');
  return *this;
}

Writer& Writer::Line() {
  while (!out_.empty() && out_.back() == ' ') out_.pop_back();
  out_ += '\n';
  return *this;
}

}  // namespace hydrant::client
