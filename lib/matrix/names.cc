#include "lib/matrix/names.h"

#include <algorithm>

namespace hydrant {
namespace {

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

bool In(std::string_view set, char c) { return set.find(c) != set.npos; }

bool AllIn(std::string_view text, std::string_view set) { return text.find_first_not_of(set) == text.npos; }

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

std::string NameFault(std::string_view name) {
  constexpr size_t kLongest = 100;
  const bool starts_well = !name.empty() && (In(kLower, name[0]) || In(kDigits, name[0]));
  const bool goes_on_well = std::all_of(
      name.begin(), name.end(), [](char c) { return In(kLower, c) || In(kDigits, c) || In("._-", c); });
  if (starts_well && goes_on_well && name.size() <= kLongest) return "";
  return Quoted(name.substr(0, kLongest)) +
         " is not a name; expected lower-case letters, digits, '.', '_' and '-', at most 100, with a letter "
         "or digit first";
}

std::string AttributePathFault(std::string_view path) {
  const bool clean = std::none_of(path.begin(), path.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f || In("*?[]@{}();'\\$", c);
  });
  const bool parts = !path.starts_with('.') && !path.ends_with('.') && path.find("..") == path.npos;
  if (!path.empty() && clean && parts) return "";
  return Quoted(path) + " is not an attribute path; expected something like python3Packages.torch";
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
