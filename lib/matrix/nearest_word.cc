#include "lib/matrix/nearest_word.h"

#include <algorithm>
#include <vector>

namespace hydrant {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string NearestWord(std::string_view word, std::span<const std::string> known) {
  // Nobody mistypes a page: a long word has no near one, and costs nothing to find out.
  constexpr size_t kLongestWord = 200;
  std::string nearest;
  if (word.size() > kLongestWord) return nearest;
  size_t least = word.size() + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const size_t distance = EditDistance(word, candidate);
    const bool near = distance * 2 <= std::max(word.size(), candidate.size());
    if (near && distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string NearestHint(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = NearestWord(word, known);
  return nearest.empty() ? "" : "; the nearest is '" + nearest + "'";
}

}  // namespace hydrant
