#include "lib/failure/wording_search.h"

namespace hydrant {
namespace {

bool Matches(std::string_view pattern, std::string_view line) {
  const bool at_start = pattern.starts_with('^');
  if (at_start) pattern.remove_prefix(1);
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

std::string ShortMessage(std::string_view text) {
  if (text.size() <= kLongestMessage) return std::string(text);
  size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

void WordingSearch::Look(const MessageLine& line, std::string_view plain) {
  const PairSet pairs(plain);
  for (size_t row = 0; row < row_; ++row) {
    const WordingPattern& pattern = wordings_[row].pattern;
    if (!pairs.MayContain(pattern.pairs) || !Matches(pattern.text, plain)) continue;
    std::string_view text = line.text;
    if (text.ends_with(';')) text.remove_suffix(1);  // "failed with exit code 3;" before the quoted log
    row_ = row;
    found_ = Classified{wordings_[row].cause, ShortMessage(text), line.number};
    return;
  }
}

}  // namespace hydrant
