#include "lib/failure/message_lines.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "lib/failure/classify.h"

namespace hydrant {
namespace {

bool TakePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// ‘ ’ as '.
std::string WithPlainQuotes(std::string_view text) {
  constexpr std::string_view kTypographic = "\xe2\x80\x98";
  std::string plain;
  plain.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool quote = rest.size() >= 3 && rest.starts_with(kTypographic.substr(0, 2)) &&
                       (rest[2] == '\x98' || rest[2] == '\x99');
    plain.push_back(quote ? '\'' : rest[0]);
    at += quote ? 3 : 1;
  }
  return plain;
}

// "  12|   source" and "    |   ^".
bool IsExcerpt(std::string_view line) {
  const size_t bar = line.find_first_not_of("0123456789 ");
  return bar != std::string_view::npos && line[bar] == '|';
}

LinePart PartOf(std::string_view* line) {
  if (TakePrefix(line, "error:")) return LinePart::kErrorHead;
  if (TakePrefix(line, ">")) return LinePart::kLog;
  for (std::string_view mark :
       {"warning:", "evaluation warning:", "trace:", "… ", "at /", "at «", "(use '--show-trace'"}) {
    if (line->starts_with(mark)) return LinePart::kSurrounding;
  }
  return IsExcerpt(*line) ? LinePart::kSurrounding : LinePart::kText;
}

void AddLine(std::string_view raw, std::vector<MessageLine>* lines) {
  std::string_view line = Trimmed(raw);
  if (line.empty()) return;
  const LinePart part = PartOf(&line);
  line = Trimmed(line);
  for (std::string_view mark : {"- ", "Reason: "}) {
    if (part == LinePart::kText) TakePrefix(&line, mark);
  }
  lines->push_back({part, std::string(line), WithPlainQuotes(line)});
}

bool Matches(std::string_view pattern, std::string_view line) {
  const bool at_start = TakePrefix(&pattern, "^");
  bool first = true;
  while (true) {
    const size_t star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    const size_t at = first && at_start ? (line.starts_with(piece) ? 0 : line.npos) : line.find(piece);
    if (at == line.npos) return false;
    if (star == pattern.npos) return true;
    line.remove_prefix(at + piece.size());
    pattern.remove_prefix(star + 1);
    first = false;
  }
}

}  // namespace

std::vector<MessageLine> MessageLines(std::string_view text) {
  const std::string clean = StripAnsi(text);
  std::vector<MessageLine> lines;
  std::string_view rest = clean;
  while (!rest.empty()) {
    const size_t end = rest.find_first_of("\n\r");  // a progress bar's CR ends its line too
    AddLine(rest.substr(0, end), &lines);
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
  }
  return lines;
}

std::optional<WordingMatch> FirstMatch(std::span<const Wording> wordings, std::span<const MessageLine> lines,
                                       std::initializer_list<LinePart> parts) {
  for (const Wording& wording : wordings) {
    for (const MessageLine& line : lines) {
      const bool wanted = std::find(parts.begin(), parts.end(), line.part) != parts.end();
      if (wanted && Matches(wording.pattern, line.plain)) return WordingMatch{&wording, &line};
    }
  }
  return std::nullopt;
}

}  // namespace hydrant
