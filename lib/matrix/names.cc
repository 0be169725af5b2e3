#include "lib/matrix/names.h"

#include <algorithm>
#include <string>

namespace hydrant {
namespace {

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

bool In(std::string_view set, char c) { return set.find(c) != set.npos; }

bool AllIn(std::string_view text, std::string_view set) { return text.find_first_not_of(set) == text.npos; }

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string Nearest(const std::string& word) {
  return word.empty() ? "" : "; the nearest is " + Quoted(word);
}

// Lower-case, with '-' for what no name has; "" when nothing is left.
std::string NearestName(std::string_view name) {
  std::string nearest;
  for (const char c : name) {
    const char lower = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool fits = In(kLower, lower) || In(kDigits, lower) || In("._-", lower);
    const bool first = nearest.empty() && (In("._-", lower) || !fits);
    if (!first && (fits || !nearest.ends_with('-'))) nearest += fits ? lower : '-';
  }
  return nearest.substr(0, nearest.find_last_not_of('-') + 1);
}

// The text less those characters, when it had one and is a path without; else "".
std::string Without(std::string_view path, std::string_view characters) {
  std::string rest(path);
  std::erase_if(rest, [&](char c) { return In(characters, c); });
  return rest.size() != path.size() && AttributePathFault(rest).empty() ? rest : "";
}

// Spaces and marks of Unicode that look like nothing: no-break space, U+200B to U+200F, U+2028 to U+202E,
// U+2060, the byte order mark.
bool HasInvisible(std::string_view text) {
  for (const std::string_view mark : {"\xc2\xa0", "\xe2\x81\xa0", "\xef\xbb\xbf"}) {
    if (text.find(mark) != text.npos) return true;
  }
  for (size_t at = text.find("\xe2\x80"); at != text.npos && at + 2 < text.size();
       at = text.find("\xe2\x80", at + 1)) {
    const auto last = static_cast<unsigned char>(text[at + 2]);
    if ((0x8b <= last && last <= 0x8f) || (0xa8 <= last && last <= 0xae)) return true;
  }
  return false;
}

}  // namespace

std::string NameFault(std::string_view name) {
  constexpr size_t kLongest = 100;
  const bool starts_well = !name.empty() && (In(kLower, name[0]) || In(kDigits, name[0]));
  const bool goes_on_well = std::all_of(
      name.begin(), name.end(), [](char c) { return In(kLower, c) || In(kDigits, c) || In("._-", c); });
  if (starts_well && goes_on_well && name.size() <= kLongest) return "";
  return Quoted(name.substr(0, kLongest)) +
         " is not a name; expected lower-case letters, digits, '.', '_' and '-', at most 100, with a letter "
         "or digit first" +
         Nearest(NearestName(name.substr(0, kLongest)));
}

std::string AttributePathFault(std::string_view path) {
  const bool clean = std::none_of(path.begin(), path.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f || In("*?[]@{}();'\\$", c);
  });
  const bool parts = !path.starts_with('.') && !path.ends_with('.') && path.find("..") == path.npos;
  if (path.find('"') != path.npos) {
    return Quoted(path) +
           " has a quotation mark; an attribute stands without, also one with dots in its name" +
           Nearest(Without(path, "\""));
  }
  if (HasInvisible(path)) return Quoted(path) + " has a character that nobody sees; write the name anew";
  if (!path.empty() && clean && parts) return "";
  return Quoted(path) + " is not an attribute path; expected something like python3Packages.torch" +
         Nearest(Without(path, " \t\n'"));
}

bool IsGlob(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

std::string CapabilityFault(std::string_view word) {
  const size_t point = word.find('.');
  std::string_view minor = point == word.npos ? "" : word.substr(point + 1);
  if (minor.ends_with('a') || minor.ends_with('f')) minor.remove_suffix(1);
  const bool whole = point != word.npos && point > 0 && !minor.empty() &&
                     AllIn(word.substr(0, point), kDigits) && AllIn(minor, kDigits);
  if (whole) return "";
  return Quoted(word) +
         " is not a compute capability; expected one such as \"8.9\", \"9.0a\" or \"12.0f\", or "
         "[\"default\"]";
}

}  // namespace hydrant
