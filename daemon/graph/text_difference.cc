#include "daemon/graph/text_difference.h"

#include <algorithm>

namespace hydrant {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  constexpr std::string_view kMore = "…";
  size_t end = most > kMore.size() ? most - kMore.size() : 0;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)).append(kMore);
}

}  // namespace

TextDifference DifferenceOfTexts(std::string_view before, std::string_view after, size_t most) {
  const size_t shorter = std::min(before.size(), after.size());
  size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  while (head > 0 && !IsBlank(before[head - 1])) --head;
  before.remove_prefix(head);
  after.remove_prefix(head);
  const size_t rest = std::min(before.size(), after.size());
  size_t tail = 0;
  while (tail < rest && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  while (tail > 0 && !IsBlank(before[before.size() - tail])) --tail;
  before.remove_suffix(tail);
  after.remove_suffix(tail);
  return {Shortened(before, most), Shortened(after, most)};
}

}  // namespace hydrant
