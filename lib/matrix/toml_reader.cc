#include "lib/matrix/toml_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/json_text.h"

namespace hydrant {
namespace {

using Kind = TomlNode::Kind;

TomlNode Converted(const toml::node& node);

void ConvertTable(const toml::table& table, TomlNode* result) {
  result->kind = Kind::kTable;
  for (const auto& [key, value] : table) {
    result->members.push_back(
        {std::string(key.str()), static_cast<int>(key.source().begin.line), Converted(value)});
  }
  // The library sorts by key.
  std::stable_sort(result->members.begin(), result->members.end(),
                   [](const TomlMember& a, const TomlMember& b) { return a.line < b.line; });
}

TomlNode Converted(const toml::node& node) {
  TomlNode result;
  result.line = static_cast<int>(node.source().begin.line);
  if (const auto* table = node.as_table()) {
    ConvertTable(*table, &result);
  } else if (const auto* list = node.as_array()) {
    result.kind = Kind::kList;
    for (const toml::node& item : *list) result.items.push_back(Converted(item));
  } else if (const auto* text = node.as_string()) {
    result.kind = Kind::kString;
    result.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.kind = Kind::kInteger;
    result.integer = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    result.kind = Kind::kFloat;
    result.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    result.kind = Kind::kBoolean;
    result.boolean = boolean->get();
  } else {
    result.kind = Kind::kDate;
  }
  return result;
}

// Where a quoted text that begins at `at` is over: behind its closing mark, or the end of the file.
size_t EndOfQuoted(std::string_view text, size_t at) {
  const char mark = text[at];
  const std::string three(3, mark);
  const bool long_text = text.substr(at).starts_with(three);
  at += long_text ? 3 : 1;
  while (at < text.size()) {
    if (!long_text && text[at] == mark) return at + 1;
    if (long_text && text.substr(at).starts_with(three)) {
      // Up to two more belong to the text: """it is "so"""""
      const size_t other = std::min(text.find_first_not_of(mark, at), text.size());
      return std::min(other, at + 5);
    }
    if (!long_text && text[at] == '\n') return at;
    at += mark == '"' && text[at] == '\\' ? 2 : 1;
  }
  return text.size();
}

// The first line at which a key has more than `most_parts` parts ("a.b.c" has three) or more than
// `most_levels` lists and inline tables are open; 0 when there is none.
int LineOfTooDeep(std::string_view text, int most_parts, int most_levels) {
  int line = 1, dots = 0, levels = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    size_t next = at + 1;
    if (c == '"' || c == '\'') next = EndOfQuoted(text, at);
    if (c == '#') next = std::min(text.find('\n', at), text.size());
    if (c == '[' || c == '{') ++levels;
    if (c == ']' || c == '}') --levels;
    if ((c == '.' && ++dots >= most_parts) || levels > most_levels) return line;
    if (std::string_view("\n=[]{},").find(c) != std::string_view::npos) dots = 0;
    line += static_cast<int>(std::count(text.begin() + at, text.begin() + std::min(next, text.size()), '\n'));
    at = next;
  }
  return 0;
}

absl::StatusOr<std::string> ListJson(const TomlNode& node) {
  std::string json;
  for (const TomlNode& item : node.items) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string value, TomlJson(item));
    json += (json.empty() ? "" : ",") + value;
  }
  return "[" + json + "]";
}

absl::StatusOr<std::string> TableJson(const TomlNode& node) {
  std::map<std::string_view, const TomlNode*> by_key;  // so that the text's order does not count
  for (const TomlMember& member : node.members) by_key[member.key] = &member.value;
  std::string json;
  for (const auto& [key, member] : by_key) {
    HYDRANT_ASSIGN_OR_RETURN(const std::string value, TomlJson(*member));
    json += (json.empty() ? "" : ",") + JsonQuoted(key) + ":" + value;
  }
  return "{" + json + "}";
}

}  // namespace

absl::StatusOr<TomlNode> ParseToml(std::string_view text, std::string_view file) {
  // Each part of a key is a table within a table, and both the library and Converted walk those by recursion.
  constexpr int kMostParts = 32, kMostLevels = 64;
  if (text.size() > kMaxTomlBytes) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(file), ":1: the text has ", text.size(),
                                                   " bytes; the cap is ", kMaxTomlBytes));
  }
  if (const int line = LineOfTooDeep(text, kMostParts, kMostLevels); line > 0) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(file), ":", line, ": a key has more than ",
                                                   kMostParts, " parts, or values lie more than ",
                                                   kMostLevels, " deep in one another"));
  }
  try {
    TomlNode result = Converted(toml::parse(text, file));
    result.line = 1;
    return result;
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(file), ":", error.source().begin.line, ": ",
                                                   std::string(error.description())));
  }
}

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kString:
      return "a string";
    case Kind::kInteger:
      return "an integer";
    case Kind::kFloat:
      return "a decimal number";
    case Kind::kBoolean:
      return "a boolean";
    case Kind::kDate:
      return "a date or time";
    case Kind::kList:
      return "a list";
    case Kind::kTable:
      return "a table";
  }
  return "nothing";
}

absl::StatusOr<std::string> TomlJson(const TomlNode& node) {
  switch (node.kind) {
    case Kind::kString:
      return JsonQuoted(node.text);
    case Kind::kInteger:
      return absl::StrCat(node.integer);
    case Kind::kBoolean:
      return std::string(node.boolean ? "true" : "false");
    case Kind::kFloat:
      if (std::isfinite(node.real)) return JsonFloat(node.real);
      break;
    case Kind::kList:
      return ListJson(node);
    case Kind::kTable:
      return TableJson(node);
    case Kind::kDate:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("line ", node.line, " holds ", std::string(KindName(node.kind)), " that has no JSON"));
}

}  // namespace hydrant
