#include "lib/matrix/table_reader.h"

#include <algorithm>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/status_macros.h"
#include "lib/matrix/nearest_word.h"
#include "lib/matrix/quantities.h"

namespace hydrant {
namespace {

using Kind = TomlNode::Kind;

std::string UnknownKeyText(const std::string& where, const std::string& key,
                           const std::vector<std::string>& known, std::string_view hint) {
  return absl::StrCat(where, " has no key '", key, "'", NearestHint(key, known),
                      " (known: ", absl::StrJoin(known, ", "), ")", AbslView(hint));
}

// A number where a word belongs is nearly always a version without its quotes.
std::string QuoteHint(const TomlNode& found) {
  if (found.kind == Kind::kInteger) return absl::StrCat("; write \"", found.integer, "\"");
  if (found.kind == Kind::kFloat) return absl::StrCat("; write it in quotes, as in \"", found.real, "\"");
  return "";
}

// One line, whatever a name holds.
std::string OnOneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7f)
      line += c;
    else if (c == '\n')
      line += "\\n";
    else
      absl::StrAppend(&line, "\\x", absl::Hex(byte, absl::kZeroPad2));
  }
  return line;
}

}  // namespace

void ReadErrors::Add(int line, std::string_view message) {
  if (status_.ok())
    status_ = absl::InvalidArgumentError(absl::StrCat(file_, ":", line, ": ", OnOneLine(message)));
}

TableReader::TableReader(const TomlNode& table, std::string where, std::vector<std::string> known,
                         ReadErrors* errors, std::string_view hint)
    : table_(table), where_(std::move(where)), errors_(errors) {
  for (const TomlMember& member : table.members) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      errors_->Add(member.line, UnknownKeyText(where_, member.key, known, hint));
    }
  }
}

const TomlMember* TableReader::Find(std::string_view key) const {
  const auto found = std::find_if(table_.members.begin(), table_.members.end(),
                                  [&](const TomlMember& member) { return member.key == key; });
  return found == table_.members.end() ? nullptr : &*found;
}

void TableReader::Require(std::string_view key) {
  if (Find(key) == nullptr)
    errors_->Add(table_.line, absl::StrCat(where_, " lacks the key '", AbslView(key), "'"));
}

void TableReader::Fail(const TomlMember& member, std::string_view message) {
  FailAt(member.line, member, message);
}

void TableReader::FailAt(int line, const TomlMember& member, std::string_view message) {
  errors_->Add(line, absl::StrCat(where_, " ", member.key, ": ", AbslView(message)));
}

void TableReader::FailType(const TomlMember& member, std::string_view expected, const TomlNode& found) {
  const bool word = expected.starts_with("a string") || expected.starts_with("a list");
  FailAt(found.line, member,
         absl::StrCat("expected ", AbslView(expected), ", found ", AbslView(KindName(found.kind)),
                      word ? QuoteHint(found) : ""));
}

const TomlMember* TableReader::FindKind(std::string_view key, Kind kind, std::string_view expected) {
  const TomlMember* member = Find(key);
  if (member == nullptr || member->value.kind == kind) return member;
  FailType(*member, expected, member->value);
  return nullptr;
}

void TableReader::ReadString(std::string_view key, std::string* out) {
  const TomlMember* member = FindKind(key, Kind::kString, "a string");
  if (member == nullptr) return;
  if (member->value.text.empty()) return Fail(*member, "is empty");
  *out = member->value.text;
}

void TableReader::ReadWord(std::string_view key, const std::vector<std::string>& allowed, std::string* out) {
  std::string word;
  ReadString(key, &word);
  if (word.empty()) return;
  if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) {
    *out = word;
    return;
  }
  Fail(*Find(key),
       absl::StrCat("'", word, "' is not one of ", absl::StrJoin(allowed, ", "), NearestHint(word, allowed)));
}

void TableReader::ReadBoolean(std::string_view key, bool* out) {
  if (const TomlMember* member = FindKind(key, Kind::kBoolean, "true or false")) *out = member->value.boolean;
}

void TableReader::ReadInteger(std::string_view key, int least, int most, int* out) {
  const TomlMember* member = FindKind(key, Kind::kInteger, "an integer");
  if (member == nullptr) return;
  if (member->value.integer < least || member->value.integer > most) {
    return Fail(*member, absl::StrCat(member->value.integer, " is not between ", least, " and ", most));
  }
  *out = static_cast<int>(member->value.integer);
}

void TableReader::ReadDuration(std::string_view key, absl::Duration* out) {
  const TomlMember* member = FindKind(key, Kind::kString, "a duration as a string, such as \"10m\"");
  if (member == nullptr) return;
  const auto duration = ParseDurationText(member->value.text);
  if (!duration.ok()) return Fail(*member, StdView(duration.status().message()));
  if (*duration <= absl::ZeroDuration()) return Fail(*member, "must be above zero");
  *out = *duration;
}

void TableReader::ReadBytes(std::string_view key, uint64_t* out) {
  const TomlMember* member = FindKind(key, Kind::kString, "a byte size as a string, such as \"1500MB\"");
  if (member == nullptr) return;
  const auto bytes = ParseByteSize(member->value.text);
  if (!bytes.ok()) return Fail(*member, StdView(bytes.status().message()));
  if (*bytes == 0) return Fail(*member, "must be above zero");
  *out = *bytes;
}

void TableReader::ReadStrings(std::string_view key, ListShape shape, std::vector<std::string>* out) {
  const TomlMember* member = Find(key);
  if (member == nullptr) return;
  std::vector<TomlNode> lone;
  if (shape.word_allowed && member->value.kind == Kind::kString) lone.push_back(member->value);
  if (lone.empty() && member->value.kind != Kind::kList) {
    return FailType(*member, shape.word_allowed ? "a string or a list of strings" : "a list of strings",
                    member->value);
  }
  std::vector<std::string> words;
  std::unordered_set<std::string_view> seen;
  for (const TomlNode& item : lone.empty() ? member->value.items : lone) {
    if (item.kind != Kind::kString) return FailType(*member, "a list of strings", item);
    if (item.text.empty()) return FailAt(item.line, *member, "holds an empty string");
    if (!seen.insert(item.text).second)
      return FailAt(item.line, *member, absl::StrCat("'", item.text, "' stands there twice"));
    words.push_back(item.text);
  }
  if (words.empty() && !shape.may_be_empty) return Fail(*member, "is an empty list");
  *out = std::move(words);
}

const TomlNode* TableReader::ReadTable(std::string_view key) {
  const TomlMember* member = FindKind(key, Kind::kTable, "a table");
  return member == nullptr ? nullptr : &member->value;
}

std::vector<const TomlNode*> TableReader::ReadTables(std::string_view key) {
  std::vector<const TomlNode*> tables;
  const std::string expected = absl::StrCat("tables, each begun by [[", AbslView(key), "]]");
  const TomlMember* member = FindKind(key, Kind::kList, expected);
  if (member == nullptr) return tables;
  for (const TomlNode& item : member->value.items) {
    if (item.kind != Kind::kTable) {
      FailType(*member, expected, item);
      return {};
    }
    tables.push_back(&item);
  }
  return tables;
}

}  // namespace hydrant
