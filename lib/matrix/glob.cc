#include <optional>

#include "lib/matrix/expansion.h"

namespace hydrant {
namespace {

struct CharClass {
  bool matches;
  size_t length;  // of the pattern, brackets included
};

// The class that begins at glob[0] == '['; nullopt when it is never closed, which makes the bracket an
// ordinary character.
std::optional<CharClass> MatchClass(std::string_view glob, char c) {
  size_t at = 1;
  const bool negated = at < glob.size() && (glob[at] == '!' || glob[at] == '^');
  if (negated) ++at;
  bool found = false;
  for (const size_t first = at; at < glob.size(); ++at) {
    if (glob[at] == ']' && at > first) return CharClass{found != negated, at + 1};
    const bool range = at + 2 < glob.size() && glob[at + 1] == '-' && glob[at + 2] != ']';
    found = found || (range ? glob[at] <= c && c <= glob[at + 2] : glob[at] == c);
    if (range) at += 2;
  }
  return std::nullopt;
}

// How much of the pattern one character uses up; 0 when it does not match.
size_t MatchOne(std::string_view glob, char c) {
  if (glob.empty()) return 0;
  if (glob[0] == '?') return 1;
  if (glob[0] == '[') {
    if (const auto cls = MatchClass(glob, c)) return cls->matches ? cls->length : 0;
  }
  if (glob[0] == '\\' && glob.size() > 1) return glob[1] == c ? 2 : 0;
  return glob[0] == c ? 1 : 0;
}

}  // namespace

bool GlobMatches(std::string_view glob, std::string_view text) {
  size_t g = 0, t = 0;
  size_t star = std::string_view::npos, star_text = 0;  // the last '*', and where its match ends so far
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (const size_t used = MatchOne(glob.substr(g), text[t]); used > 0) {
      g += used;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace hydrant
